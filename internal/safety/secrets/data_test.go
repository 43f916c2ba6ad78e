package secrets

import (
	"encoding/base64"
	"encoding/json"
	"math/rand"
	"strings"
	"testing"
)

// TestData: nothing is found in the base64 of files, whatever it looks like there, and
// nothing that begins in it and ends behind it. What stands beside it is found.
func TestData(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	token := "ghs_" + "Q7wZ2mN9xK4vB8tR1yH6cJ3pL5sD0fGaUeTi"
	for seed := range int64(300) {
		data := make([]byte, 20_000)
		_, _ = rand.New(rand.NewSource(seed)).Read(data) // it cannot fail
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding, base64.RawStdEncoding} {
			body := enc.EncodeToString(data)
			bodies := []string{body, body + "key", body + "password", "iVBORw0KGgo" + body, "/9j/" + body[:9000] + token + body[9000:]}
			if enc == base64.RawURLEncoding { // in its letters there are tokens by chance
				bodies = bodies[3:]
			}
			for _, body := range bodies {
				text, err := json.Marshal(map[string]string{"data": body, "mimeType": "image/png"})
				if err != nil {
					t.Fatal(err)
				}
				if out := s.Redact(text, nil); string(out) != string(text) {
					t.Fatalf("seed %d: the picture became %.200s", seed, out)
				}
			}
		}
	}
	long := strings.Repeat("Ab9xQ2", 100)
	for _, c := range []struct {
		name, text string
		found      bool
	}{
		{"beside data", `{"data":"` + long + `","token":"` + token + `"}`, true},
		{"a session token", "export AWS_SESSION_TOKEN=IQoJ" + randomText(600), true},
		{"a long password", "password=" + randomText(600), true},
		{"a long client secret", "--client-secret=" + randomText(600), true},
		{"a token in an address", "https://example.com/a?access_token=" + randomText(600), true},
		{"behind letters that are no data", strings.Repeat("a", 600) + "AIzaSyQ7wZ2mN9xK4vB8tR1yH6cJ3pL5sD0fGaU", true},
		{"a picture by the name of a key", `{"api_key":"iVBORw0KGgo` + randomText(600) + `"}`, false},
	} {
		if got := len(s.Find(c.text, nil)) > 0; got != c.found {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	value := "correct horse"
	if found := s.Find(randomText(600)+value, NewKnown([]string{value})); len(found) != 1 {
		t.Errorf("a known value behind data: %v", found)
	}
}

func randomText(n int) string {
	data := make([]byte, n)
	_, _ = rand.New(rand.NewSource(int64(n))).Read(data) // it cannot fail
	return base64.RawStdEncoding.EncodeToString(data)
}
