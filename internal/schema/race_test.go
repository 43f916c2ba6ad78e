//go:build race

package schema

// raceEnabled: under the race detector sync.Pool drops items at random, so allocations cannot be counted.
const raceEnabled = true
