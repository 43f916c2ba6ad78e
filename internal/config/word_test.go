package config

import "testing"

func TestSetWord(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "model: b\n",
		"models:\n  a: {}\n":                  "models:\n  a: {}\nmodel: b\n",
		"models:\n  a: {}":                    "models:\n  a: {}\nmodel: b\n",
		"# mine\nmodel: a # small\nmode: x\n": "# mine\nmodel: b # small\nmode: x\n",
		"model: \"a\"\r\nmode: x\r\n":         "model: b\r\nmode: x\r\n",
		"model:\nmode: x\n":                   "model: b\nmode: x\n",
		"{model: a, mode: x}":                 "",
		"model:\n  a: 1\n":                    "",
		"model: >\n  a\nmode: x\n":            "",
		"mode: x\n...\n":                      "",
		"model: [\n":                          "",
	} {
		got, err := SetWord([]byte(in), "model", "b")
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q became %q, %v", in, got, err)
		}
	}
	if out, err := SetWord(nil, "model", "1.5"); err == nil {
		t.Errorf("%q: a number is no word", out)
	}
}

// FuzzSetWord: the word is there, the rest is as it was, or nothing is handed out.
func FuzzSetWord(f *testing.F) {
	for _, s := range []string{"", "a: 1\nmodel: x # y\n", "{model: a}", "model: &a x\nb: *a\n", "---\nmodel: |\n  x\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		before, _ := topLevel([]byte(in))
		out, err := SetWord([]byte(in), "model", "b")
		if err != nil {
			return
		}
		after, err := topLevel(out)
		if err != nil || !changedOnly(before, after, "model", "b") {
			t.Fatalf("%q became %q, %v", in, out, err)
		}
		again, err := SetWord(out, "model", "b")
		if err != nil || string(again) != string(out) {
			t.Fatalf("%q became %q, %v", out, again, err)
		}
	})
}
