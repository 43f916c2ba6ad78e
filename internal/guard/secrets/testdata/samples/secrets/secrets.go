// Package secrets makes texts that fit a regexp, always the same ones.
package secrets

import (
	"math"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

var random = rand.New(rand.NewPCG(4, 5))

// NewSecret gives a text that fits the regexp.
func NewSecret(regex string) string {
	re, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	write(&b, re)
	return b.String()
}

// NewSecretWithEntropy gives one with so many bits per letter.
func NewSecretWithEntropy(regex string, least float64) string {
	for range 1000 {
		if s := NewSecret(regex); entropy(s) >= least {
			return s
		}
	}
	panic("no text of " + regex + " has the entropy that is asked for")
}

func entropy(s string) float64 {
	count := map[rune]float64{}
	for _, r := range s {
		count[r]++
	}
	h, n := 0.0, float64(len(s))
	for _, c := range count {
		h -= c / n * math.Log2(c/n)
	}
	return h
}

func write(b *strings.Builder, re *syntax.Regexp) {
	times := func(least, most int) {
		if most < 0 {
			most = least + 10
		}
		for range least + random.IntN(most-least+1) {
			write(b, re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		class(b, re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		class(b, []rune{' ', '~'})
	case syntax.OpCapture:
		write(b, re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			write(b, sub)
		}
	case syntax.OpAlternate:
		write(b, re.Sub[random.IntN(len(re.Sub))])
	case syntax.OpStar:
		times(0, -1)
	case syntax.OpPlus:
		times(1, -1)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpRepeat:
		times(re.Min, re.Max)
	}
}

// class writes one letter of a class; only ASCII is used.
func class(b *strings.Builder, ranges []rune) {
	var all []rune
	for i := 0; i < len(ranges); i += 2 {
		for r := max(ranges[i], ' '); r <= ranges[i+1] && r < 0x7f; r++ {
			all = append(all, r)
		}
	}
	b.WriteRune(all[random.IntN(len(all))])
}
