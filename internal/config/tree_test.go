package config

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

type loop struct {
	Next map[string]loop `yaml:"next"`
}

type knot struct {
	Self *knot `yaml:"self"`
}

type embedded struct {
	tools
}

// TestBadTags lists mistakes a programmer can make in a settings struct: each must be an error, none may be passed over.
func TestBadTags(t *testing.T) {
	for _, c := range []struct {
		name string
		typ  reflect.Type
		want string
	}{
		{"no yaml tag", reflect.TypeFor[struct{ A int }](), "A: yaml tag"},
		{"upper case", reflect.TypeFor[struct {
			A int `yaml:"Upper"`
		}](), `yaml tag "Upper"`},
		{"dot", reflect.TypeFor[struct {
			A int `yaml:"a.b"`
		}](), `yaml tag "a.b"`},
		{"digit first", reflect.TypeFor[struct {
			A int `yaml:"1a"`
		}](), `yaml tag "1a"`},
		{"twice", reflect.TypeFor[struct {
			A int `yaml:"a"`
			B int `yaml:"a"`
		}](), "used twice"},
		{"embedded", reflect.TypeFor[embedded](), "embedded"},
		{"loop", reflect.TypeFor[loop](), "contains itself"},
		{"knot", reflect.TypeFor[knot](), "contains itself"},
		{"pointer to number", reflect.TypeFor[struct {
			A *int `yaml:"a"`
		}](), "pointer to a struct"},
		{"interface", reflect.TypeFor[struct {
			A any `yaml:"a"`
		}](), "not supported"},
		{"function", reflect.TypeFor[struct {
			A func() `yaml:"a"`
		}](), "not supported"},
		{"array", reflect.TypeFor[struct {
			A [2]int `yaml:"a"`
		}](), "not supported"},
		{"list of lists", reflect.TypeFor[struct {
			A [][]string `yaml:"a"`
		}](), "not supported"},
		{"map of maps", reflect.TypeFor[struct {
			A map[string]map[string]int `yaml:"a"`
		}](), "not supported"},
		{"map of pointers", reflect.TypeFor[struct {
			A map[string]*tools `yaml:"a"`
		}](), "not supported"},
		{"map by number", reflect.TypeFor[struct {
			A map[int]string `yaml:"a"`
		}](), "must be strings"},
		{"opaque struct", reflect.TypeFor[struct {
			A time.Time `yaml:"a"`
		}](), "none of them is a setting"},
		{"opaque struct in a list", reflect.TypeFor[struct {
			A []netip.Addr `yaml:"a"`
		}](), "none of them is a setting"},
		{"unit", reflect.TypeFor[struct {
			A int64 `yaml:"a" unit:"miles"`
		}](), "unit tag"},
		{"unit of text", reflect.TypeFor[struct {
			A string `yaml:"a" unit:"bytes"`
		}](), "unit tag"},
		{"unit of duration", reflect.TypeFor[struct {
			A time.Duration `yaml:"a" unit:"bytes"`
		}](), "unit tag"},
		{"enum of numbers", reflect.TypeFor[struct {
			A int `yaml:"a" enum:"1,2"`
		}](), "enum tag"},
		{"min of text", reflect.TypeFor[struct {
			A string `yaml:"a" min:"1"`
		}](), "min tag"},
		{"min is no number", reflect.TypeFor[struct {
			A time.Duration `yaml:"a" min:"5"`
		}](), `min tag "5"`},
		{"max does not fit", reflect.TypeFor[struct {
			A int8 `yaml:"a" max:"1000"`
		}](), `max tag "1000"`},
		{"min above max", reflect.TypeFor[struct {
			A int64 `yaml:"a" unit:"bytes" min:"1MiB" max:"1MB"`
		}](), "min is larger than max"},
		{"unknown rule", reflect.TypeFor[struct {
			A int `yaml:"a" project:"raise"`
		}](), "project tag"},
		{"empty rule", reflect.TypeFor[struct {
			A int `yaml:"a" project:""`
		}](), "project tag"},
		{"lower text", reflect.TypeFor[struct {
			A string `yaml:"a" project:"lower"`
		}](), "project tag"},
		{"lower list", reflect.TypeFor[struct {
			A []int `yaml:"a" project:"lower"`
		}](), "project tag"},
		{"off for number", reflect.TypeFor[struct {
			A int `yaml:"a" project:"off"`
		}](), "project tag"},
		{"add to number", reflect.TypeFor[struct {
			A int `yaml:"a" project:"add"`
		}](), "project tag"},
		{"subset of map", reflect.TypeFor[struct {
			A map[string]int `yaml:"a" project:"subset"`
		}](), "project tag"},
		{"rule on block", reflect.TypeFor[struct {
			A tools `yaml:"a" project:"add"`
		}](), "project tag"},
		{"rule inside a list", reflect.TypeFor[struct {
			A []server `yaml:"a" project:"add"`
		}](), "inside a list"},
		{"secret", reflect.TypeFor[struct {
			A string `yaml:"a" secret:"yes"`
		}](), "secret tag"},
		{"env of block", reflect.TypeFor[struct {
			A journal `yaml:"a" env:"X"`
		}](), "env tag"},
		{"env below a map", reflect.TypeFor[struct {
			A map[string]tools `yaml:"a"`
		}](), "there may be many"},
		{"env empty", reflect.TypeFor[struct {
			A string `yaml:"a" env:""`
		}](), "no name of a variable"},
		{"env twice", reflect.TypeFor[struct {
			A int `yaml:"a_b"`
			B struct {
				C int `yaml:"b"`
			} `yaml:"a"`
		}](), "TOOLCRIB_A_B already belongs to a_b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := newTree(c.typ); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestTree(t *testing.T) {
	type good struct {
		Empty  struct{}            `yaml:"empty"`
		Sizes  []int64             `yaml:"sizes" unit:"bytes" max:"1GiB" env:"-"`
		Times  map[mode]int8       `yaml:"times,omitempty" min:"-1"`
		Groups map[string][]string `yaml:"groups" enum:"a,b"`
	}
	root, err := newTree(reflect.TypeFor[good]())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(root.keys(), " "); got != "empty sizes times groups" {
		t.Errorf("keys are %s", got)
	}
	if root.field("sizes").env != "" || root.field("times").env != "TOOLCRIB_TIMES" || root.field("groups").env != "" {
		t.Error("the environment variables are wrong")
	}
	file := "empty: {}\nsizes: [1KiB, 3]\ntimes: {a: -1}\ngroups: {g: [a, b]}\n"
	loaded, err := Load(good{}, Options{User: write(t, "c.yaml", file)})
	if err != nil {
		t.Fatal(err)
	}
	want := good{Sizes: []int64{1024, 3}, Times: map[mode]int8{"a": -1}, Groups: map[string][]string{"g": {"a", "b"}}}
	if !reflect.DeepEqual(loaded.Value, want) {
		t.Errorf("got %+v", loaded.Value)
	}
	_, err = Load(good{}, Options{User: write(t, "c.yaml", "empty: {x: 1}\nsizes: [2GiB]\ntimes: {a: -2}\ngroups: {g: [c]}\n")})
	for _, part := range []string{"unknown key \"x\"", "sizes[0]", "times.a", "groups.g[0]"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("no %s in %v", part, err)
		}
	}
}
