// Package safety bounds what calls do that are allowed: what their results bring
// in, what their arguments carry out, how often they are made.
//
// Wiring (internal/app) builds its guards and vetters and puts them into a crib.
// It imports the core and internal/policy, for selectors and labels.
//
// Its one invariant: guards are pure questions. Who keeps state (flow, budgets,
// loops) changes it where a tool runs and where its result is vetted, never while
// judging.
//
//	flow    private and untrusted data on its way out
//	inject  results from outside, marked and made harmless
//	secret  keys and tokens in arguments and results
//	budget  rates and budgets; loop: the same call again and again
//	hook    guards and vetters that are programs of the user's own
package safety
