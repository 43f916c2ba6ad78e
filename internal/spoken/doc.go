// Package spoken has the sentences that a voice says to a person: why something was
// not done, what went wrong, and what it asks. Each is one short sentence or two,
// without names of settings, paths, commands, IDs, brackets, quotes and whatever
// else a voice spells out letter by letter.
//
// It is a part of the ground floor: it knows languages and nothing of calls. The
// host on the message bus and the agent there say the same thing in the same words.
//
// # The table
//
// There is one file per language in the folder sentences, named by the language
// (en.txt, de.txt). A line is a key, " = " and the sentence. Empty lines and lines
// that begin with # are comments. {number} stands for a number and {words} for
// some plain words; a sentence must have those of the English one, and no others.
//
// # Another language
//
// Copy sentences/en.txt to, say, sentences/fr.txt and translate what stands right of the
// equals signs. No Go code changes: the tests of this package find the file and say
// what is missing in it, and the conformance tests have a voice read it.
package spoken
