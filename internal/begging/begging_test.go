package begging

import "testing"

func TestWarning(t *testing.T) {
	for _, text := range []string{"Enter the passphrase of the vault to go on.", "What is your PASSWORD?", "Which api\nkey do you use?", "private  key, please"} {
		if Warning("Which one?", text) == "" {
			t.Errorf("no warning before %q", text)
		}
	}
	for _, text := range []string{"", "Which colour?", "Shall I rename the token counter?"} {
		if Warning(text) != "" {
			t.Errorf("a warning before %q", text)
		}
	}
}

func FuzzWarning(f *testing.F) {
	f.Add("your\nvault")
	f.Add("pass\xffword")
	f.Fuzz(func(t *testing.T, text string) {
		if Warning(text+" password") == "" {
			t.Errorf("%q hides the word behind it", text)
		}
	})
}
