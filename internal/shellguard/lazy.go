package shellguard

import (
	"regexp"
	"sync"
)

// lazyRegexp is a regular expression that is compiled when it is first used. There are
// many here, most lines need none, and a process that judges one line for a client
// would spend more time on them than on the line.
type lazyRegexp struct {
	text string
	get  func() *regexp.Regexp
}

// lazyRegexps are all of them, for a test that each can be compiled.
var lazyRegexps []*lazyRegexp

func lazily(text string) *lazyRegexp {
	r := &lazyRegexp{text: text, get: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
	lazyRegexps = append(lazyRegexps, r)
	return r
}

func (r *lazyRegexp) MatchString(s string) bool { return r.get().MatchString(s) }

func (r *lazyRegexp) FindStringSubmatch(s string) []string { return r.get().FindStringSubmatch(s) }

func (r *lazyRegexp) FindAllString(s string, n int) []string { return r.get().FindAllString(s, n) }

func (r *lazyRegexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.get().FindAllStringSubmatch(s, n)
}

func (r *lazyRegexp) FindString(s string) string { return r.get().FindString(s) }

func (r *lazyRegexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.get().FindAllStringSubmatchIndex(s, n)
}

func (r *lazyRegexp) ReplaceAllString(s, by string) string { return r.get().ReplaceAllString(s, by) }

func (r *lazyRegexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.get().ReplaceAllStringFunc(s, by)
}
