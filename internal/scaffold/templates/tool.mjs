// toolcrib:
//   effects: [pure]
//   timeout: 10s

// The comment above is for all functions of this file; this one is not part of it, because of the empty line.
// Every function that is exported is a tool. Its arguments and what a model reads come from the comment before
// it (JSDoc): say what the tool does, and when to use it.
// "pure" means that it only computes. To let it do more, say so, and it can reach that and nothing else:
//
//   effects: [reads, network]     also: writes, destroys; without the line and with hosts, people are asked
//   read: [.]                     directories, here the working directory; write: [./out] likewise
//   hosts: [api.example.org]
//
// What it returns is the result, and what it throws is a failure. What it prints goes to the log.

/**
 * Count the words, lines or letters of a text.
 * @param {string} text The text to count in.
 * @param {'words'|'lines'|'letters'} unit What to count.
 */
export function {{function}}(text, unit = 'words') {
  switch (unit) {
    case 'words': return text.split(/\s+/).filter(Boolean).length
    case 'lines': return text.split('\n').length
    default: return [...text].length
  }
}
