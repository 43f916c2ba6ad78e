package find

// Terms cuts a text into what it is found by: lower-case words without the common
// accents, English ones without their endings, and pairs of characters of scripts
// that write without spaces. Of a long text the beginning is looked at.
func Terms(text string) []string {
	words := tokens(text)
	for i, w := range words {
		words[i] = stem(w)
	}
	return words
}
