package vault

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseText(t *testing.T) {
	text := func(s string) Part { return Part{Text: s} }
	ref := func(s string) Part { return Part{Secret: s} }
	long := strings.Repeat("n", maxName)
	for in, want := range map[string][]Part{
		"":                              nil,
		"plain":                         {text("plain")},
		"${secret:A}":                   {ref("A")},
		"Bearer ${secret:GH.tok-en_1}":  {text("Bearer "), ref("GH.tok-en_1")},
		"${secret:A}${secret:B}.":       {ref("A"), ref("B"), text(".")},
		"$${secret:A}":                  {text("${secret:A}")},
		"x$${secret:A} ${secret:A}":     {text("x"), text("${secret:A} "), ref("A")},
		"$$${secret:A}":                 {text("$"), text("${secret:A}")},
		"${VAR} $VAR $$ $":              {text("${VAR} $VAR $$ $")},
		"$(cat /etc/passwd) `id`":       {text("$(cat /etc/passwd) `id`")},
		"${secret} ${secrets:A}":        {text("${secret} ${secrets:A}")},
		"${SECRET:-x} ${secret_key}":    {text("${SECRET:-x} ${secret_key}")},
		"{secret:A} secret:A $secret:A": {text("{secret:A} secret:A $secret:A")},
		"${secret:" + long + "}":        {ref(long)},
	} {
		got, err := ParseText(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
	}

	const pasted = "s3cr3t-value-of-somebody"
	for in, want := range map[string]string{
		"ab${secret:A":                    "byte 2: invalid: it has no closing }",
		"${secret:}":                      "no name",
		"${secret:A B}":                   "byte 1 is another",
		"${secret:-x}":                    "begins with a letter",
		"${secret:$(id)}":                 "byte 0 is another",
		"${secret:${X}}":                  "byte 0 is another",
		"${secret:" + pasted + "!}":       "only letters",
		"${secret:" + pasted:              "no closing }",
		"${secret:" + long + "n}":         "no closing } within",
		"${Secret:A}":                     "is written ${secret:NAME}",
		"${ secret:A}":                    "is written ${secret:NAME}",
		"${secret :A}":                    "is written ${secret:NAME}",
		"${SECRET:" + pasted + "}":        "is written ${secret:NAME}",
		"${secret:A} then ${secret:\x00}": "byte 17: ",
	} {
		_, err := ParseText(in)
		wantErr(t, err, ErrInvalid, pasted)
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, it should have %q", in, err, want)
		}
	}
}

// References lists the names in a text, each once, in the order they appear.
func References(text string) ([]string, error) {
	parts, err := ParseText(text)
	if err != nil {
		return nil, err
	}
	var names []string
	seen := map[string]bool{}
	for _, p := range parts {
		if p.Secret != "" && !seen[p.Secret] {
			seen[p.Secret] = true
			names = append(names, p.Secret)
		}
	}
	return names, nil
}

func TestReferences(t *testing.T) {
	got, err := References("${secret:B} ${secret:A} $${secret:C} ${secret:B}")
	if diff := cmp.Diff([]string{"B", "A"}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	_, err = References("${secret:")
	wantErr(t, err, ErrInvalid)
}

func TestExpandOnce(t *testing.T) {
	got, err := Expand(t.Context(), "<${secret:A}>", func(context.Context, string) (string, error) { return "${secret:B}$(id)", nil })
	if err != nil || got != "<${secret:B}$(id)>" {
		t.Errorf("got %q, %v", got, err)
	}
	_, err = Expand(t.Context(), "${secret:A} ${secret:", func(context.Context, string) (string, error) {
		t.Error("a text with a fault asks for secrets")
		return "", nil
	})
	wantErr(t, err, ErrInvalid)
}

func FuzzParseText(f *testing.F) {
	for _, s := range []string{"", "${secret:A}", "$${secret:A}", "$$${secret:A}b", "${secret:", "${ Secret:A}", "a$b${VAR}$(x)", "${secret:A}${secret:B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := ParseText(text)
		if err != nil {
			if len(err.Error()) > 200 {
				t.Errorf("a long error: %v", err)
			}
			return
		}
		// Put together again it is the same text, but for the second $.
		var b strings.Builder
		for i, p := range parts {
			switch {
			case (p.Text == "") == (p.Secret == ""):
				t.Fatalf("part %d is %+v", i, p)
			case p.Secret != "":
				if CheckName(p.Secret) != nil {
					t.Errorf("%q is no name", p.Secret)
				}
				b.WriteString(refOpen + p.Secret + "}")
			case strings.HasPrefix(p.Text, refOpen):
				b.WriteString("$" + p.Text)
			default:
				if strings.Contains(p.Text, refOpen) {
					t.Errorf("a reference stayed in the plain part %q", p.Text)
				}
				b.WriteString(p.Text)
			}
		}
		if b.String() != text {
			t.Errorf("%q became %q", text, b.String())
		}
	})
}
