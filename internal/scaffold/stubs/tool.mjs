// toolcrib:
//   effects: [pure]
//   timeout: 30s

/**
 * {{line}}
 * @param {string} text What it works on.
 */
export function {{function}}(text) {
  // TODO: this gives the text back as it is.
  return text
}
