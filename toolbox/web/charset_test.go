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
		{"japanese", "\x93\xfa\x96{", "Shift_JIS", false, "日本", "shift_jis"},
		{"chinese", "\xd6\xd0\xce\xc4", "gb2312", false, "中文", "gbk"},
		{"korean", "\xc7\xd1", "euc-kr", false, "한", "euc-kr"},
		{"mark of utf-8", "\xef\xbb\xbfh\xc3\xa9", "windows-1251", false, "hé", "utf-8"},
		{"mark of utf-16", "\xff\xfeh\x00\xe9\x00", "utf-8", false, "hé", "utf-16le"},
		{"big utf-16", "\xfe\xff\x00h\x00\xe9\xd8", "", false, "hé\ufffd", "utf-16be"},
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
	for _, label := range []string{"x-klingon\x1b[0m", "hz-gb-2312\x1b[0m"} {
		_, _, err := decode([]byte("\x82\xa0\x1b"), label, false)
		if err == nil || !strings.Contains(err.Error(), strings.Replace(`"`+label+`"`, "\x1b", "", 1)) {
			t.Errorf("a charset that is not known: %v", err)
		}
	}
}

// TestLabels: what pages call their charset, in the field.
func TestLabels(t *testing.T) {
	for charset, labels := range map[string]string{
		"utf-8":        "utf-8 utf8 unicode-1-1-utf-8 x-unicode20utf8",
		"utf-16le":     "utf-16 utf-16le ucs-2 unicode iso-10646-ucs-2 csunicode",
		"utf-16be":     "utf-16be",
		"windows-1252": "iso-8859-1 iso8859-1 iso88591 iso_8859-1 latin1 latin-1 l1 ascii us-ascii ansi_x3.4-1968 cp819 ibm819 cp1252 x-cp1252 windows-1252",
		"windows-1254": "iso-8859-9 iso8859-9 iso_8859-9 latin5 l5 cp1254 x-cp1254 windows-1254",
		"windows-874":  "iso-8859-11 iso8859-11 tis-620 dos-874 windows-874",
		"iso-8859-8":   "iso-8859-8 hebrew visual",
		"iso-8859-8-i": "iso-8859-8-i logical",
		"iso-8859-2":   "latin2 l2 iso-8859-2 iso8859-2 iso_8859-2",
		"iso-8859-3":   "iso-8859-3", "iso-8859-4": "iso-8859-4", "iso-8859-5": "cyrillic iso-8859-5", "iso-8859-6": "arabic iso-8859-6",
		"iso-8859-7": "greek greek8 iso-8859-7", "iso-8859-10": "iso-8859-10", "iso-8859-13": "iso-8859-13", "iso-8859-14": "iso-8859-14",
		"iso-8859-15": "latin-9 latin9 l9 iso-8859-15", "iso-8859-16": "iso-8859-16", "koi8-r": "koi koi8 koi8_r cskoi8r koi8-r", "koi8-u": "koi8-ru koi8-u",
		"macintosh": "mac x-mac-roman csmacintosh macintosh", "ibm866": "cp866 866 csibm866 ibm866",
		"windows-1250": "cp1250 x-cp1250 windows-1250", "windows-1251": "cp1251 windows-1251", "windows-1253": "windows-1253", "windows-1255": "windows-1255",
		"windows-1256": "windows-1256", "windows-1257": "windows-1257", "windows-1258": "windows-1258",
		"shift_jis": "shift_jis sjis", "euc-jp": "euc-jp", "gbk": "gb2312 gbk", "gb18030": "gb18030", "big5": "big5", "euc-kr": "euc-kr ks_c_5601-1987",
	} {
		for label := range strings.FieldsSeq(labels) {
			if _, got, err := decode([]byte("a"), label, false); err != nil || got != charset {
				t.Errorf("%s is %q, want %q: %v", label, got, charset, err)
			}
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
