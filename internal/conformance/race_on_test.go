//go:build corpus && race

package conformance

// raced: the race detector watches.
const raced = true
