package named

import "strings"

// Imported gives all modules of the lists.
func Imported() []string { return append(strings.Fields(imported), strings.Fields(seldom)...) }
