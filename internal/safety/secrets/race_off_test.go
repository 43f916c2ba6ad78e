//go:build !race

package secrets

// sampleStep: every sample is taken.
const sampleStep = 1
