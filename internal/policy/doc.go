// Package policy says who may use which tools, and when a person is asked: by the
// profile, the mode and the rules of all layers.
//
// Wiring (internal/app) builds its guards and puts them into a crib; safety picks
// tools by its selectors and goes by its labels. It imports the core, and the shell
// guard, which reads the command lines that rules are about.
//
// Its one invariant: what a rule does not mean for certain gives nothing, and what
// it may mean takes away. Judging changes nothing.
//
//	profile, visible  which tools exist for a caller (Crib.Visible)
//	mode              when a person is asked, by effects
//	rules             the grammar of permissions; command, path, domain, when: their parts
//	layer, index      rules of several layers, and how the few that count are found
//	policy            Policy, the guard of mode and rules
//	obeyed            writing what other programs obey
//	label             where data comes from and where it can go
//	import            permissions of other programs, as rules of ours
package policy
