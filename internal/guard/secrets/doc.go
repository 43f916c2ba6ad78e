// Package secrets finds keys, tokens and private keys in texts and in JSON.
//
// Only internal/guard imports it: its guard and its vetter decide what is done
// with what is found. It imports nothing of this module. The rules are those of
// the betterleaks project, which its config package carries as a text; neither
// its engine nor its expression language is used, because a result has to be
// vetted within a few milliseconds:
//
//	text ─► keywords (one Aho-Corasick pass) ─► where could a match begin?
//	     ─► cheap look at the next bytes ─► the rule's regexp, anchored there ─► the rule's filter
//
// A rule is compiled when one of its keywords is met for the first time. The work
// for a text is counted and bounded by its length. Where a text has so many
// keywords that the bound is reached, the rest of it gets a coarse look instead
// of none: every word near a keyword that could be a secret is taken for one.
// All of it is linear in the text, whoever wrote that, and a small text without
// a keyword needs no memory.
//
// Its one invariant: what is taken out of a valid JSON text leaves a valid JSON
// text of the same shape, and a [Known] value never survives in it.
package secrets
