// Package text is the part of the ground floor that knows what people see and
// type: which characters are invisible and how they are written out, where a
// text may be cut, and which known word a mistyped one was meant to be.
//
// Every package may import it. It knows no tools and no policy, so whether a
// text may be shown, or has to be cut, is for its callers to decide.
//
// Its one invariant: nothing that it returns ends within a character.
package text
