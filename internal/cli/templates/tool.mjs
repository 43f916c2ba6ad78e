// toolcrib:
//   effects: [pure]
//   timeout: 10s

// PLACEHOLDER
