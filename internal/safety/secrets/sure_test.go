package secrets

import (
	"strings"
	"testing"
)

// TestPlaces: values that look like nothing at all are found where their place
// leaves nothing else for them to be.
func TestPlaces(t *testing.T) {
	s := testScanner(t)
	for text, secret := range map[string]string{
		"api_key = \"hardcoded\"\n":                                             "hardcoded",
		"client_secret: 'thisismine'\n":                                         "thisismine",
		"{\"clientSecret\": \"SuperValueOfMine\"}":                              "SuperValueOfMine",
		"SECRET_KEY=hardcoded\n":                                                "hardcoded",
		"app:\n  jwt_secret: correcthorse\n":                                    "correcthorse",
		"<apiKey>hardcoded</apiKey>":                                            "hardcoded",
		"tool --access-token hardcoded run\n":                                   "hardcoded",
		"config.set(\"apiKey\", \"hardcoded\");":                                "hardcoded",
		"api_key = \"1234567890\"\n":                                            "1234567890",
		"app.use(session({ secret: 'keyboard cat' }))":                          "keyboard cat",
		"password = \"value with quotes and spaces\"\n":                         "value with quotes and spaces",
		"password: 'correct-horse-battery-staple'\n":                            "correct-horse-battery-staple",
		"<password>  plainSecret  </password>":                                  "plainSecret",
		"[client]\nuser = root\npassword = letmein\n":                           "letmein",
		"    storePassword \"letmein\"\n":                                       "letmein",
		"#define WIFI_PASSWORD \"letmein\"\n":                                   "letmein",
		"const char password[] = \"letmein\";":                                  "letmein",
		"char password[25] = \"letmein\";":                                      "letmein",
		"public string Password { get; set; } = \"letmein\";":                   "letmein",
		"PGPASSWORD=${DB_PASSWORD:-letmein1}\n":                                 "letmein1",
		"if (\"letmein!\" == password) {":                                       "letmein!",
		"if (password.equals(\"letmein!\")) {":                                  "letmein!",
		"db_pass = m{{h}o)p${e]nob(ody[finds>-_$#this\n":                        "m{{h}o)p${e]nob(ody[finds>-_$#this",
		"//npm.example/releases:_password=CorrectHorseBattery":                  "CorrectHorseBattery",
		"_auth = c3Rlcm46YWRtaW4x":                                              "c3Rlcm46YWRtaW4x",
		"  .dockerconfigjson: eyE1x2a3MpLe\n":                                   "eyE1x2a3MpLe",
		"client_secret = \"F-oS9Su%}<>[];#\"\n":                                 "F-oS9Su%}<>[];#",
		"https://mainnet.infura.io/v3/05c12b07721045d2824c506f3aef90c2":         "05c12b07721045d2824c506f3aef90c2",
		"tgram://12345678:ulTK_HG7-Sb3_zcz5CV2VjFyoNH0cZoGM1r":                  "ulTK_HG7-Sb3_zcz5CV2VjFyoNH0cZoGM1r",
		"https://outlook.office.com/webhook/9e10b0f2-b994-4bff-b106-473c37cdc5": "9e10b0f2-b994-4bff-b106-473c37cdc5",
	} {
		if out := s.Strike(text, nil); strings.Contains(out, secret) {
			t.Errorf("%q is still in %q", secret, out)
		}
	}
}

// TestPlacesOfOthers: the same words are left where they are names, types, parts
// of a language, or what a program says to people.
func TestPlacesOfOthers(t *testing.T) {
	s := testScanner(t)
	for _, text := range []string{
		"token: \"identifier\",\n",
		"if (e.tokenValue === \"arguments\") {",
		"{\"clientSecret\": \"clientSecret\"}",
		"ACCESS_KEY = 'AWSAccessKeyId'\n",
		"{\"type\": \"object\", \"client_secret\": \"string\"}",
		"{\"secret\": \"Geheimnis\", \"apiKey\": \"Schluessel\"}",
		"new Set([\"accesskey\",\"autocapitalize\",\"autocorrect\"])",
		"client_secret = settings\n",
		"api_key = credentials;\n",
		"password = \"must have at least eight letters\"\n",
		"{\"password\": \"eight letters at least\"}",
		"Password: \"Wrong one given\"\n",
		"<password>Password</password>",
		"<input type=\"password\" name=\"password\" autocomplete=\"current-password\">",
		"def login(user, password):\n    password = entered\n    return password\n",
		"if (input == password) {",
		"if (\"\" == password) {",
		"password: ${DB_PASSWORD:-}\n",
		"password: ${DB_PASSWORD:-$OTHER}\n",
		"password: {{ .Values.password }}\n",
		"secret: {{ lookup('env', 'X') }}\n",
	} {
		if found := s.Find(text, nil); len(found) > 0 {
			t.Errorf("%s: %q of %q", found[0].Rule, text[found[0].Start:found[0].End], text)
		}
	}
}
