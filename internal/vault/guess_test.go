package vault

import "testing"

func TestGuessable(t *testing.T) {
	for value, want := range map[string]bool{
		"": true, "000000": true, "4711": true, "8215550199": true, "hunter": true, "aaaaaaaaaaaaaaaaaaaaaaaa": true, "abababababababab": true,
		"hunter2hunter2": false, "Tr0ub4dor": false, "correct-horse": false, "492837465019283": false, "sk-live-51H8x": false, "Grüße-aus-Köln": false,
	} {
		if got := Guessable(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}
