//go:build linux && race

package worker

// detector is how many times more memory a program has: the race detector needs much.
const detector = 1 << 20
