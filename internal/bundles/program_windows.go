package bundles

// marksPrograms: a file's name says whether it can be started, and its mode nothing.
const marksPrograms = false
