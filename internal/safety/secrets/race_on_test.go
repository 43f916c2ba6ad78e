//go:build race

package secrets

// sampleStep: the race detector makes a regexp ten times slower, and what is
// measured does not depend on it, so that run takes one sample in so many.
const sampleStep = 6
