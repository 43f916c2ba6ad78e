package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type decodeTree struct {
	Name string       `json:"name"`
	Kids []decodeTree `json:"kids,omitempty"`
	Up   *decodeTree  `json:"up"`
}

type decodeEmbedded struct {
	decodeTree
	Extra int `json:"extra"`
}

type decodeAll struct {
	S    string                `json:"s"`
	B    bool                  `json:"b"`
	I    int                   `json:"i"`
	I8   int8                  `json:"i8"`
	U    uint                  `json:"u"`
	U16  uint16                `json:"u16"`
	F    float64               `json:"f"`
	F32  float32               `json:"f32"`
	P    *int                  `json:"p"`
	PP   **string              `json:"pp"`
	L    []int                 `json:"l"`
	LL   [][]string            `json:"ll"`
	M    map[string]int        `json:"m"`
	MM   map[string]decodeTree `json:"mm"`
	T    decodeTree            `json:"t"`
	Raw  json.RawMessage       `json:"raw"`
	Any  any                   `json:"any"`
	When time.Time             `json:"when"`
	Data []byte                `json:"data"`
	Arr  [2]int                `json:"arr"`
	Num  json.Number           `json:"num"`
	Str  int                   `json:"str,string"`
	Skip string                `json:"-"`
	Dash string                `json:"-,"` //nolint:staticcheck // the odd name is the point
	Odd  string                `json:"odd name"`
	Bare string
	E    decodeEmbedded `json:"e"`
	priv int            //nolint:unused // unexported fields must be passed over
}

// decodePlain is decodeAll without the one option that sends the whole struct to the library.
type decodePlain struct {
	S  string         `json:"s"`
	B  bool           `json:"b"`
	I  int            `json:"i"`
	I8 int8           `json:"i8"`
	U  uint           `json:"u"`
	F  float64        `json:"f"`
	P  *int           `json:"p"`
	L  []int          `json:"l"`
	M  map[string]int `json:"m"`
	T  decodeTree     `json:"t"`
	A  any            `json:"any"`
	E  decodeEmbedded `json:"e"`
}

// sameAsLibrary decodes a text both ways.
func sameAsLibrary[T any](t *testing.T, text string) {
	t.Helper()
	d, err := Parse([]byte(text), Limits{})
	if err != nil {
		return // the library takes what two readers could read differently; we do not
	}
	defer d.Release()
	var want, got T
	wantErr := json.Unmarshal([]byte(text), &want)
	gotErr := NewDecoder(reflect.TypeFor[T]()).Decode(d, reflect.ValueOf(&got).Elem())
	if (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("%T from %s: %v, the library says %v", got, text, gotErr, wantErr)
	}
	if wantErr != nil {
		return
	}
	if diff := cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Fatalf("%T from %s (-library +ours):\n%s", got, text, diff)
	}
}

func decodeSamples() []string {
	return []string{
		`{}`, `null`, `[]`, `1`, `{"s":"a\u0041\n","b":true,"i":-5,"i8":127,"u":7,"u16":65535,"f":1.5e3,"f32":0.1}`,
		`{"i8":128}`, `{"i8":-129}`, `{"u":-1}`, `{"u16":65536}`, `{"i":1.0}`, `{"i":1e2}`, `{"f":1e400}`, `{"f32":1e39}`, `{"i":9223372036854775808}`,
		`{"s":1}`, `{"b":"x"}`, `{"i":"1"}`, `{"l":{}}`, `{"m":[]}`, `{"t":[]}`, `{"p":"x"}`,
		`{"p":3,"pp":"deep","l":[1,2,3],"ll":[["a"],[],null],"m":{"a":1,"b":2},"mm":{"x":{"name":"n"}}}`,
		`{"p":null,"pp":null,"l":null,"m":null,"s":null,"b":null,"i":null,"t":null}`,
		`{"t":{"name":"a","kids":[{"name":"b","up":{"name":"c"}}]}}`,
		`{"raw":{"a":[1, 2]},"any":{"a":[1,"x",null,true]},"when":"2026-01-02T03:04:05Z","data":"aGk=","arr":[1,2,3],"num":12.50}`,
		`{"when":"yesterday"}`, `{"data":"%%"}`, `{"str":"12"}`, `{"str":12}`,
		`{"S":"upper","bARE":"any case","Bare":"exact","-":"dash","odd name":"odd","Skip":"no","priv":1}`,
		`{"e":{"name":"in","extra":2,"kids":[]}}`, `{"unknown":{"deep":[1]},"s":"kept"}`, `{"":1}`, `{"l":[1,"x"]}`, `{"m":{"a":"x"}}`,
	}
}

func TestDecodeIsTheLibrarys(t *testing.T) {
	for _, text := range decodeSamples() {
		sameAsLibrary[decodeAll](t, text)
		sameAsLibrary[decodePlain](t, text)
		sameAsLibrary[map[string]any](t, text)
		sameAsLibrary[map[string]int](t, text)
		sameAsLibrary[*decodePlain](t, text)
		sameAsLibrary[decodeEmbedded](t, text)
	}
}

func TestDecodeNamesTheField(t *testing.T) {
	d, err := Parse([]byte(`{"t":{"kids":[{"name":"a"},{"name":3}]}}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	var v decodePlain
	err = NewDecoder(reflect.TypeFor[decodePlain]()).Decode(d, reflect.ValueOf(&v).Elem())
	if err == nil || !strings.Contains(err.Error(), "t: kids: [1]: name: cannot put number 3 into a Go string") {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range decodeSamples() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		sameAsLibrary[decodePlain](t, text)
		sameAsLibrary[decodeAll](t, text)
	})
}
