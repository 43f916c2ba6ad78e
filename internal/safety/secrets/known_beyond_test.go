package secrets

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// TestKnownBeyondASCII: a value with letters of other languages is found in the
// ways in which programs write those.
func TestKnownBeyondASCII(t *testing.T) {
	for value, texts := range map[string][]string{
		"Grüße-aus-Köln-7731": {
			`Gr\u00fc\u00dfe-aus-K\u00f6ln-7731`, `Gr\303\274\303\237e-aus-K\303\266ln-7731`, `Gr\xc3\xbc\xc3\x9fe-aus-K\xc3\xb6ln-7731`, "Gr=C3=BC=C3=9Fe-aus-K=C3=B6ln-7731", "GrM-CM-<M-CM-^_e-aus-KM-CM-6ln-7731",
			"Gr%C3%BC%C3%9Fe-aus-K%C3%B6ln-7731", "Gr&#252;&#223;e-aus-K&#246;ln-7731", "Gr&#xfc;&#xdf;e-aus-K&#xf6;ln-7731", `Gr\u{fc}\u{df}e-aus-K\u{f6}ln-7731`, "Gru\u0308ße-aus-Ko\u0308ln-7731", "Gr\xfc\xdfe-aus-K\xf6ln-7731",
			"G r 303 274 303 237 e - a u s - K 303 266 l n - 7 7 3 1", `Gr\xfc\xdfe-aus-K\xf6ln-7731`,
			"RwByAPwA3wBlAC0AYQB1AHMALQBLAPYAbABuAC0ANwA3ADMAMQA",
		},
		"e\u0301te\u0301-secret-99": {"\u00e9t\u00e9-secret-99", `\u00e9t\u00e9-secret-99`},
		"пароль-Тула-42":            {`\u043f\u0430\u0440\u043e\u043b\u044c-\u0422\u0443\u043b\u0430-42`, "=D0=BF=D0=B0=D1=80=D0=BE=D0=BB=D1=8C-=D0=A2=D1=83=D0=BB=D0=B0-42"},
		"emoji🚀pass🚀word":           {`emoji\ud83d\ude80pass\ud83d\ude80word`, `emoji\U0001f680pass\U0001f680word`},
		"Zx9vaultValue77":           {"WgB4ADkAdgBhAHUAbAB0AFYAYQBsAHUAZQA3ADcA"},
	} {
		known := NewKnown([]string{value})
		for _, text := range texts {
			if found := known.Find("before "+text+" behind", 0); len(found) == 0 || found[0].Start > 8 || found[len(found)-1].End < len("before ")+len(text)-2 {
				t.Errorf("%q is not found in %q: %v", value, text, found)
			}
		}
	}
	for _, text := range []string{"Grüße aus Köln", "Köln-7731", "été", "a perfectly ordinary text with naïve words, 303 274 303 237"} {
		if found := NewKnown([]string{"Grüße-aus-Köln-7731", "été-secret-99"}).Find(text, 0); len(found) > 0 {
			t.Errorf("%q has %v", text, found)
		}
	}
}

// TestKnownBeyondThroughShells: what programs really print of such a value.
func TestKnownBeyondThroughShells(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	const value = "Grüße-aus-Köln-7731"
	known, dir := NewKnown([]string{value}), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(value+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	escaped, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if len(known.Find(string(escaped), 0)) == 0 {
		t.Error("it is not found in JSON")
	}
	for _, line := range []string{"od -c f", "od -An -c f", "cat -v f", "cat -A f", "sed -n l f", "od -tx1 f", "od -tc -w1 f", "base64 f"} {
		out, err := exec.Command(shell, "-c", "cd "+dir+" && LC_ALL=C "+line).Output()
		if err != nil || !utf8.Valid(out) {
			continue
		}
		if len(known.Find(string(out), 0)) == 0 {
			t.Errorf("%s shows it: %q", line, out)
		}
	}
}

// FuzzBeyondForms: forms of any value are made without a fault.
func FuzzBeyondForms(f *testing.F) {
	f.Add("Grüße", "x")
	f.Add("\xff\xfe", "🚀")
	f.Fuzz(func(t *testing.T, value, text string) {
		if len(value) > 200 || len(text) > 2000 {
			return
		}
		for _, found := range NewKnown([]string{value}).Find(text+value, 0) {
			if found.Start < 0 || found.End > len(text)+len(value) || found.Start > found.End {
				t.Errorf("%v in %q", found, text+value)
			}
		}
	})
}
