package secrets

import (
	"strings"
	"testing"
)

// A key whose beginning nothing else has is found within other letters, twice in
// a row, and if it is made up.
func TestTellingForms(t *testing.T) {
	s := testScanner(t)
	random := "Q7wZ2mN9xK4vB8tR1yH6cJ3pL5sD0fGaUeTi"
	for _, key := range []string{
		"ghs_" + random, "npm_" + random, "hf_" + random[:34], "glpat-" + random[:20], "pplx-" + random + random[:12], "xapp-1-A09-" + random,
		"AIzaSy" + random[:33], "PMAK-0123456789abcdef01234567-0123456789abcdef0123456789abcdef01", "packagist_ack_0123456789abcdef0123456789ab",
		"SG." + random[:22] + "." + random + random[:7], "dckr_pat_" + random[:27], "sk-pyx-" + random,
	} {
		for _, text := range []string{key, "aaaaaaaaaaaaa" + key, key + strings.Repeat("a", 31), "aaaaaaa" + key + key, strings.Repeat("a", 200) + key + strings.Repeat("a", 200) + key + strings.Repeat("a", 200)} {
			if out := s.Strike(text, nil); strings.Contains(out, key) {
				t.Errorf("%.90s: %s is left", text, key)
			}
		}
	}
	for _, key := range []string{"A3-XXXXXX-YYYYYY-ZZZZZ-AAAAA-BBBBB-CCCCC", "SG.aaaaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "sk-pyx-testtesttesttesttesttesttesttest", "dckr_pat_PlaceholderTokenPlaceholder", "AIzaSyAtestTESTt3s7te-_testtesttesttest", "00DE0000000BV7z!AR8AQP0jITN80ESEsj5EbaZTFG0RNBaT1cyWk7TrqoDjoNIWQ2ME"} {
		if out := s.Strike("is it "+key+" then", nil); out != "is it [redacted] then" {
			t.Errorf("%s: %s", key, out)
		}
	}
	for _, text := range []string{
		"precision highp_float_of_a_fragment_shader_that_is_long;", "sk-ant-your-api-key-here-please", "export OPENAI=sk-proj-YOUR-KEY-HERE",
		"task-list-of-many-words-and-more-words-for-everybody", "glc_some_identifier_that_is_rather_long_for_a_name",
		"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA9xAIzaSyQ7wZ2mN9xK4vB8tR1yH6cJ3pL5sD0fGaUeTi+kd",
	} {
		if out := s.Strike(text, nil); out != text {
			t.Errorf("%s: %s", text, out)
		}
	}
}

// The secret that belongs to an identifier stands before or behind it, and
// nothing else tells it.
func TestPartners(t *testing.T) {
	s := testScanner(t)
	aws, ali := "wJa7rXUt4nFEMI0K7MDENG2bPxRf8CYz9q1LkVs3", "Zq8vT2mN5xKw7RbY4hJc1pL6sD9fGa"
	for _, text := range []string{"AKIA2E0A8F3B244C9986\n" + aws, aws + "\nAKIA2E0A8F3B244C9986", "connect(AKIA2E0A8F3B244C9986, " + aws + ")", "GOOG1EAB3C5D7E9F1G3H5J7K9L1M3N5P7Q9R1S3T5V7W9X1Y3Z5AB\n" + aws, "f.write(LTAIwRQ7QIlUKh25, " + ali + ")"} {
		if out := s.Strike(text, nil); strings.Contains(out, aws) || strings.Contains(out, ali) {
			t.Errorf("%q is left as %q", text, out)
		}
	}
	text := "AKIA2E0A8F3B244C9986 was last used at 0123456789abcdef0123456789abcdef01234567\n"
	if out := s.Strike(text, nil); !strings.Contains(out, "0123456789abcdef0123456789abcdef01234567") {
		t.Errorf("a revision is gone: %q", out)
	}
}
