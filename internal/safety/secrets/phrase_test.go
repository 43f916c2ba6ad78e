package secrets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const wallet = "ozone drill grab fiber curtain grace pudding thank cruise elder eight picnic"

// walletLists are the ways in which the words of a wallet are listed.
func walletLists() map[string]string {
	words := strings.Fields(wallet)
	list := func(format, sep string) string {
		var out []string
		for i, word := range words {
			if strings.HasSuffix(format, "%s") && strings.Count(format, "%") == 2 {
				out = append(out, fmt.Sprintf(format, i+1, word))
			} else {
				out = append(out, fmt.Sprintf(format, word))
			}
		}
		return strings.Join(out, sep)
	}
	return map[string]string{
		"one a line": "mnemonic:\n" + list("%s", "\n") + "\n", "one a line, more behind": "Seed phrase:\n" + list("%s", "\n") + "\nkeep them safe\n", "an empty line behind": "seed phrase:\r\n" + list("%s", "\r\n") + "\r\n\r\nsafe\r\n",
		"items": "recovery_phrase:\n" + list("  - %s", "\n") + "\nnext: 1\n", "with commas": "mnemonic = (\n" + list("%s", ",\n") + "\n)", "in a diff": "+mnemonic:\n" + list("+%s", "\n") + "\n",
		"numbered": "mnemonic: " + list("%d. %s", " "), "numbered lines": "Recovery phrase:\n" + list("%d) %s", "\n") + "\n(write it down)", "in columns": "mnemonic:\n" + list("%2d: %s", "   ") + "\n", "cat -n": "     2\tmnemonic:\n" + list("     %d\t%s", "\n") + "\n", "grep -n": "2:mnemonic:\n" + list("%d:%s", "\n"),
		"an array": `{"mnemonic":["` + strings.Join(words, `","`) + `"],"x":1}`, "an array with blanks": `"seed_phrase": ['` + strings.Join(words, `', '`) + `']`, "an array in lines": "{\n  \"mnemonic\": [\n    \"" + strings.Join(words, "\",\n    \"") + "\"\n  ]\n}", "an array of words": `mnemonicWords = ["` + strings.Join(words, `", "`) + `"]`,
		"an array in a text": `{"content":"{\"mnemonic\":[\"` + strings.Join(words, `\",\"`) + `\"]}"}`, "a longer name": "Your mnemonic phrase: " + wallet,
	}
}

// TestPhrasesInLists: the words of a wallet are found however they are listed, and nothing else goes.
func TestPhrasesInLists(t *testing.T) {
	s := testScanner(t)
	for name, text := range walletLists() {
		got := s.Strike(text, nil)
		for word := range strings.FieldsSeq(wallet) {
			if strings.Contains(got, word) {
				t.Errorf("%s: %q", name, got)
				break
			}
		}
		for _, kept := range []string{"keep them safe", "safe", "next: 1", "(write it down)", `"x":1`} {
			if strings.Contains(text, kept) && !strings.Contains(got, kept) {
				t.Errorf("%s: too much is gone: %q", name, got)
			}
		}
		doc, err := json.Marshal(map[string]string{"content": text})
		if err != nil {
			t.Fatal(err)
		}
		if out := string(s.Redact(doc, nil)); strings.Contains(out, "ozone") || strings.Contains(out, "picnic") || !json.Valid([]byte(out)) {
			t.Errorf("%s in a document: %s", name, out)
		}
	}
	doc := json.RawMessage(`{"mnemonic":["` + strings.Join(strings.Fields(wallet), `","`) + `"],"n":[1,2]}`)
	if got, want := string(s.Redact(doc, nil)), `{"mnemonic":["`+strings.Repeat(Mark+`","`, 11)+Mark+`"],"n":[1,2]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestListsThatAreNoPhrases: too few or too many words, sentences, and lists of other names stay.
func TestListsThatAreNoPhrases(t *testing.T) {
	s := testScanner(t)
	words := strings.Fields(wallet)
	for _, text := range []string{
		"mnemonic:\n" + strings.Join(words[:11], "\n") + "\n", "mnemonic:\n" + strings.Join(words, "\n") + "\nagain\n", `"mnemonic": ["` + strings.Join(words[:11], `","`) + `"]`, `"mnemonic": ["mov","add","sub","mul","div","cmp","jmp","ret","push","pop","call","xor"]`,
		"mnemonic: " + strings.Join(words[:11], " 1. "), "mnemonic:\n" + strings.Join(words, "\n\n"), "mnemonic:\n" + strings.Join(words, " is\n"), "mnemonics:\n" + strings.Join(words, "\n"), "mnemonic:\n" + strings.Repeat("abandon\n", 11) + "about\n",
		"mnemonic:\nthe\n" + strings.Join(words[1:], "\n"), "the mnemonic " + strings.Join(words, "\n"), "mnemonic words are chosen from a list of short words that each wallet knows already",
	} {
		if got := s.Strike(text, nil); got != text {
			t.Errorf("%q is taken out: %q", text, got)
		}
	}
}
