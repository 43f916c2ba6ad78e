package voice

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSay(t *testing.T) {
	for _, tt := range []struct {
		lang, text string
		want       []string
	}{
		{"en", "", nil},
		{"en", "Hello", []string{"Hello."}},
		{"en", "It is **very** _nice_. Is it? Yes!", []string{"It is very nice.", "Is it?", "Yes!"}},
		{"en", "# Title\n\nText of two\nlines.\n", []string{"Title.", "Text of two lines."}},
		{"en", "You need:\n- milk\n- *eggs*\n- bread\n\nThat is all.", []string{"You need: milk, eggs and bread.", "That is all."}},
		{"de", "Du brauchst:\n1. Milch\n2. Eier", []string{"Du brauchst: Milch und Eier."}},
		{"en", "1. First do this. It matters.\n2. Then do that.", []string{"First do this.", "It matters.", "Then do that."}},
		{"en", "Run this:\n```sh\nrm -rf /\n```\nand that is it.", []string{"Run this.", "There is code, which I do not read out.", "and that is it."}},
		{"en", "```\nnever closed", []string{"There is code, which I do not read out."}},
		{"en", "Look at [the page](https://example.org/a?b=c) or https://example.org/x.", []string{"Look at the page or a link."}},
		{"de", "Siehe https://example.org.", []string{"Siehe ein Link."}},
		{"en", "![a cat](cat.png) sleeps", []string{"a cat sleeps."}},
		{"en", "| Town | Degrees |\n|---|---|\n| Rome | 31.5 |", []string{"Town, Degrees.", "Rome, 31.5."}},
		{"en", "It is 21.5 °C, and 3/4 of it costs 5 € (50 %).", []string{"It is 21.5 °C, and 3/4 of it costs 5 € 50 %."}},
		{"en", "Version 1.2.3 came on 4. May.", []string{"Version 1.2.3 came on 4. May."}},
		{"de", "Am 3. Mai, z. B. um 8 Uhr. Gut?", []string{"Am 3. Mai, z. B. um 8 Uhr.", "Gut?"}},
		{"en", "Use `run_command` or `rm -rf $HOME/x`.", []string{"Use run command or."}},
		{"en", "I wrote /home/anna/notes/shopping.txt for you.", []string{"I wrote shopping.txt for you."}},
		{"en", "The id is 3f2504e0-4f89-11d3-9a0c-0305e82c3301 here.", []string{"The id is here."}},
		{"en", "> quoted\n> text", []string{"quoted text."}},
		{"en", "Good 👍🏽 morning 🌞", []string{"Good morning."}},
		{"en", "---\n***\n", nil},
		{"en", "2 * 3 = 6", []string{"2 × 3 = 6."}},
		{"en", "a\u202eb\x00c", []string{"abc."}},
		{"en", "<b>bold</b> <br> text", []string{"bold text."}},
		{"en", "Dr. Who said \"no.\" Then he left.", []string{"Dr. Who said no.", "Then he left."}},
		{"en", "- [x] done thing\n- [ ] open thing", []string{"done thing and open thing."}},
	} {
		if got := Say(tt.lang, tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q:\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
}

func TestALongSentenceIsCut(t *testing.T) {
	got := Say("en", strings.Repeat("and on and on, ", 100))
	if len(got) < 5 {
		t.Fatal(len(got))
	}
	for _, s := range got {
		if n := utf8.RuneCountInString(s); n > maxSentence+1 || n < 50 {
			t.Errorf("%d: %q", n, s)
		}
	}
}

func FuzzSpeech(f *testing.F) {
	for _, seed := range []string{
		"Hello. **World**", "- a\n- b\n", "```\ncode\n```", "[a](b) `c` https://d.e/f?g", "| a | b |\n|--|--|", "1. x\n2) y\n   more", "# h\n> q\n---\n",
		"a\r\nb\u202e\x00\xff", strings.Repeat("x", 400), strings.Repeat("word ", 3000), "You:\n- a.\n- b", "((((a. b", "`a. b", "z. B. c. D", "…\n…", "~~~\n```\n~~~\nx",
	} {
		f.Add(seed, 3, true)
	}
	f.Fuzz(func(t *testing.T, text string, size int, german bool) {
		lang := "en"
		if german {
			lang = "de"
		}
		whole := Say(lang, text)
		for _, s := range whole {
			switch {
			case !utf8.ValidString(s):
				t.Fatalf("no text: %q", s)
			case utf8.RuneCountInString(s) > maxSentence+1:
				t.Fatalf("too long: %q", s)
			case strings.ContainsAny(s, "`*_#|<>[]{}\\^~\n\r\t\x00") || strings.Contains(s, "://") || strings.ContainsFunc(s, unicode.IsControl):
				t.Fatalf("%q is read out of %q", s, text)
			case !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
				t.Fatalf("nothing is said: %q", s)
			}
		}
		size = 1 + (size%7+7)%7
		piece := NewSpeech(lang)
		var got []string
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			got = append(got, piece.Add(rest[:n])...)
			rest = rest[n:]
		}
		if got = append(got, piece.End()...); !slices.Equal(got, whole) {
			i := 0
			for i < min(len(got), len(whole)) && got[i] == whole[i] {
				i++
			}
			t.Fatalf("in pieces of %d bytes sentence %d is %.80q, and at once %.80q", size, i, got[i:min(i+1, len(got))], whole[i:min(i+1, len(whole))])
		}
	})
}

func TestUnderstand(t *testing.T) {
	for _, tt := range []struct {
		lang  string
		heard []string
		want  Meaning
	}{
		{"en-US", []string{"yes"}, Yes}, {"en", []string{"Yes, please!"}, Yes}, {"en", []string{"go ahead"}, Yes}, {"en", []string{"okay do it"}, Yes}, {"fr-FR", []string{"yes"}, Yes},
		{"en", []string{"no"}, No}, {"en", []string{"no no no"}, No}, {"en", []string{"of course not"}, No}, {"en", []string{"please don’t"}, No}, {"en", []string{"stop"}, No}, {"en", []string{"do not do it"}, No},
		{"en", []string{"you may not"}, No}, {"en", []string{"absolutely not"}, No},
		{"en", nil, Unclear}, {"en", []string{""}, Unclear}, {"en", []string{"please"}, Unclear}, {"en", []string{"yes or no"}, Unclear}, {"en", []string{"yes but not that one"}, Unclear},
		{"en", []string{"yesterday"}, Unclear}, {"en", []string{"ja"}, Unclear}, {"en", []string{"say yes"}, Unclear}, {"en", []string{"yes", "no"}, Unclear}, {"en", []string{"what would you do"}, Unclear},
		{"en", []string{"not yes"}, Unclear}, {"en", []string{"Yes?"}, Unclear}, {"de", []string{"Sicher?"}, Unclear}, {"en", []string{"No?"}, No}, {"en", []string{strings.Repeat("yes ", 50)}, Unclear},
		{"de-DE", []string{"ja"}, Yes}, {"de", []string{"Ja, gerne."}, Yes}, {"de", []string{"na klar, mach das"}, Yes}, {"de", []string{"das darfst du"}, Yes},
		{"de", []string{"nein"}, No}, {"de", []string{"nee, lass das"}, No}, {"de", []string{"auf keinen Fall"}, No}, {"de", []string{"das darfst du nicht"}, No}, {"de", []string{"mach das nicht"}, No},
		{"de", []string{"ja aber nicht jetzt"}, Unclear}, {"de", []string{"jein"}, Unclear}, {"de", []string{"yes"}, Unclear}, {"de", []string{"bitte"}, Unclear},
	} {
		if got := Understand(tt.lang, tt.heard); got != tt.want {
			t.Errorf("%s %q: %d, want %d", tt.lang, tt.heard, got, tt.want)
		}
	}
}

// A sentence that was not a yes is none with a no in front of it or behind it.
func FuzzUnderstand(f *testing.F) {
	for _, s := range []string{"yes", "no", "sure thing", "ja bitte", "nicht", "you may", "yes\x00no", "ＹＥＳ", "do it"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, said string) {
		for lang, no := range map[string]string{"en": "no", "de": "nein"} {
			if Understand(lang, []string{said + " " + no}) == Yes || Understand(lang, []string{no + " " + said}) == Yes {
				t.Fatalf("%q with a %s is a yes", said, no)
			}
			if Understand(lang, []string{said, no}) == Yes {
				t.Fatalf("%q is a yes, though it may have been a no", said)
			}
		}
	})
}
