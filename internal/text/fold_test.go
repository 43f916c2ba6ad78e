package text

import "testing"

func TestFoldFile(t *testing.T) {
	for name, want := range map[string]string{
		".env": ".env", ".ENV": ".env", ".env. .": ".env", ".env::$DATA": ".env", ".e\u200dnv": ".env", "\u212aey": "key", "ſecret": "secret", "Ä": "ä", "": "", "...": "",
	} {
		if got := FoldFile(name); got != want {
			t.Errorf("FoldFile(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzFoldFile(f *testing.F) {
	for _, s := range []string{".ENV", "a: b", "\u212a. ", "ſ\u200d", "\xff.", "İ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if once := FoldFile(s); FoldFile(once) != once {
			t.Errorf("%q folds to %q, and that to %q", s, once, FoldFile(once))
		}
	})
}
