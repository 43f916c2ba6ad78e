package web

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, body, declared string
		html                 bool
		want, charset        string
	}{
		{"utf-8", "h\xc3\xa9", "UTF-8", false, "hé", "utf-8"},
		{"nothing said", "h\xc3\xa9", "", false, "hé", "utf-8"},
		{"nothing said, old", "h\xe9 caf\xe9", "", false, "hé café", "windows-1252"},
		{"cut in a letter", "h\xc3\xa9l\xc3\xa9 \xe2\x82\xac \xc3\xa9\xc3\xa9\xe2\x82", "", false, "hélé € éé\ufffd", "utf-8"},
		{"says utf-8 and lies", "h\xe9", "utf-8", false, "h\ufffd", "utf-8"},
		{"latin-1 is windows", "\x80 \xe9", "ISO-8859-1", false, "€ é", "windows-1252"},
		{"cyrillic", "\xcf\xf0\xe8\xe2\xe5\xf2", "windows-1251", false, "Привет", "windows-1251"},
		{"koi8", "\xf0\xd2\xc9\xd7\xc5\xd4", " KOI8-R ", false, "Привет", "koi8-r"},
		{"greek", "\xc3\xe5\xe9\xdc", "iso-8859-7", false, "Γειά", "iso-8859-7"},
		{"polish", "\xb3\xf3d\xbc", "iso8859-2", false, "łódź", "iso-8859-2"},
		{"turkish", "\xfe\xfd", "latin5", false, "şı", "windows-1254"},
		{"thai", "\xca\xc7", "tis-620", false, "สว", "windows-874"},
		{"mark of utf-8", "\xef\xbb\xbfh\xc3\xa9", "windows-1251", false, "hé", "utf-8"},
		{"mark of utf-16", "\xff\xfeh\x00\xe9\x00", "utf-8", false, "hé", "utf-16le"},
		{"big utf-16", "\xfe\xff\x00h\x00\xe9\xd8", "", false, "hé", "utf-16be"},
		{"half a pair", "h\x00\x00\xd8x\x00", "utf-16", false, "h\ufffdx", "utf-16le"},
		{"page says", "<meta charset=\"windows-1251\">\xcf", "", true, "<meta charset=\"windows-1251\">П", "windows-1251"},
		{"page says, old", "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>\xf0", "", true, "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>П", "koi8-r"},
		{"server wins", "<meta charset=koi8-r>\xcf", "windows-1251", true, "<meta charset=koi8-r>П", "windows-1251"},
		{"page lies about utf-16", "<meta charset=utf-16>h\xc3\xa9", "", true, "<meta charset=utf-16>hé", "utf-8"},
		{"no page", "<meta charset=koi8-r>\xc3\xa9", "", false, "<meta charset=koi8-r>é", "utf-8"},
		{"unknown, but ascii", "hello", "x-klingon", false, "hello", "utf-8"},
	} {
		got, charset, err := decode([]byte(c.body), c.declared, c.html)
		if err != nil || got != c.want || charset != c.charset {
			t.Errorf("%s: %q in %s, %v", c.name, got, charset, err)
		}
	}
	_, _, err := decode([]byte("\x82\xa0\x1b"), "Shift_JIS\x1b[0m", false)
	if err == nil || !strings.Contains(err.Error(), `"shift_jis[0m"`) {
		t.Errorf("a charset that is not known: %v", err)
	}
}

func TestTables(t *testing.T) {
	for _, name := range []string{
		"ibm866", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8", "iso-8859-10", "iso-8859-13", "iso-8859-14",
		"iso-8859-15", "iso-8859-16", "koi8-r", "koi8-u", "macintosh", "windows-874", "windows-1250", "windows-1251", "windows-1252", "windows-1253",
		"windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258",
	} {
		if got := len(table(name)); got != 128 || charsetOf(name) != name {
			t.Errorf("%s has %d letters and is called %q", name, got, charsetOf(name))
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("<meta charset=koi8-r>\xf0"), "", true)
	f.Add([]byte("\xff\xfea\x00\x00\xd8"), "x", false)
	f.Add([]byte("caf\xe9"), "latin1", false)
	f.Fuzz(func(t *testing.T, body []byte, declared string, isHTML bool) {
		text, charset, err := decode(body, declared, isHTML)
		if err == nil && (charset == "" || !utf8.ValidString(text)) {
			t.Errorf("%q in %q is %q", body, charset, text)
		}
	})
}
