// toolcrib:
//   effects: [pure]
//   timeout: 10s

// A toolbox in one file: every function that is exported is a tool. Its arguments and what a model reads come from
// the comment before it (JSDoc). "pure" means that they only compute. To let single tools do more, say so by name,
// and they can reach that and nothing else:
//
//   effects: {fetch: [network], "*": pure}
//   hosts: [api.example.org]

const words = (text) => text.split(/\s+/).filter(Boolean)

/**
 * Count the words of a text.
 * @param {string} text The text to count in.
 */
export function {{function}}_words(text) {
  return words(text).length
}

/**
 * Find the longest word of a text.
 * @param {string} text The text to look in.
 */
export function {{function}}_longest(text) {
  return words(text).reduce((best, word) => (word.length > best.length ? word : best), '')
}
