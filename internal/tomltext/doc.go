// Package tomltext is the part of the ground floor that reads TOML: statement by
// statement, with the line and the bytes that each one stands on, so that others
// can change one entry of a person's file and leave the rest as it is.
//
// Every package may import it; no other knows the library that it reads with.
//
// Its one invariant: statements stand in the order of the text and do not
// overlap.
package tomltext
