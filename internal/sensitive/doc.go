// Package sensitive knows the files of a project that need more care than the
// others, and how names are compared. It holds two lists: keys, which neither
// tools nor programs may read, and obeyed places, which other programs execute
// or obey later and which nobody may write unasked.
//
// The core, the guards and the sandbox go by this package, so that what one of
// them protects the others protect too. It imports nothing of ours, and it reads
// no file: whoever uses it hands over names and texts.
package sensitive
