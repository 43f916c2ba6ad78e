package wording

// table is a warning and the patterns that it is given for, over folded text.
type table struct {
	why      string
	patterns []entry
}

// entry is a pattern and the words, with | between them, one of which a text must
// have to be looked at.
type entry struct{ near, pattern string }

const (
	dropping = "ignore|disregard|forget|overr|bypass|discard|supersede|set aside"
	telling  = "tell|mention|inform|notif|alert|reveal|disclos|warn"
	keyfiles = ".ssh|.aws/|.gnupg|.netrc|.npmrc|.pypirc|.kube/|.git-cred|.docker/|.env|id_rsa|id_ed25519|id_ecdsa|id_dsa|mcp.json|claude_desktop|/etc/|_history|private key"
	keyWords = "key|password|credential|secret|token|environment variables|env vars|cookies"
)

// vocabulary are the words that patterns share. What a tool says about itself
// (reads, returns, sends) is not among the verbs: those are what a model is told
// to do.
func vocabulary() map[string]string {
	return map[string]string{
		"drop":    `(?:ignore|disregard|forget|override|overrule|bypass|discard|supersede|set aside)`,
		"orders":  `(?:instructions?|rules|guidelines|prompts?|orders|directives?|restrictions|safeguards|policies)`,
		"person":  `(?:user|person|human|anyone|anybody|operator|owner|customer|people)`,
		"not":     `(?:do not|don't|never|must not|mustn't|should not|shouldn't|cannot|can't|may not|without|avoid|no need to)`,
		"tell":    `(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|alert|alerting|reveal|revealing|disclose|disclosing|warn|warning)`,
		"take":    `(?:read|open|load|fetch|get|cat|dump|collect|gather|access|find|grab|look up|print|list)`,
		"give":    `(?:pass|put|paste|provide|include|attach|append|add|supply|hand|copy|insert|embed|send|post|forward|upload|transmit|report|submit|leak|exfiltrate|relay|share|encode|write)`,
		"send":    `(?:send|post|forward|upload|transmit|report|submit|leak|exfiltrate|relay|append|attach|email)`,
		"keyfile": `(?:\.ssh\b|\.aws/|\.gnupg\b|\.netrc\b|\.npmrc\b|\.pypirc\b|\.kube/|\.git-credentials|\.docker/config|\.env\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\bmcp\.json\b|claude_desktop_config|/etc/(?:passwd|shadow)\b|\.(?:bash|zsh)_history|\bprivate keys?\b)`,
		"keys":    `(?:api[ _-]?keys?|passwords?|credentials?|secrets?|access tokens?|private keys?|environment variables|env vars|[a-z0-9_]*(?:_api_key|secret_access_key|_token)|cookies)`,
		"talk":    `(?:conversation|chat history|chat log|message history|system prompt|previous messages|last messages|dialog(?:ue)?|your context|context window)`,
		"where":   `(?:https?://|[a-z0-9._%+-]+@[a-z0-9-]+\.[a-z]|webhook|our server|remote server|\b(?:parameter|argument|field|query string)\b)`,
	}
}

func tables() []table {
	return []table{
		{"it imitates a message of the system", []entry{
			{"<", `<\s*/?\s*(?:important|system|secret|admin|instructions?|override|assistant)\s*>|<\|[a-z_]+\|>|<</?sys>>|<!-- ?(?:[a-z']+[ :]+){3}`},
			{"[", `\[/?inst\]|\[/?system\]`},
			{"system", `#+ ?system (?:message|prompt|override|note|notice)\b|\bsystem (?:override|notice|message)\s*:`},
			{"assistant:", `\bhuman: .{0,200}\bassistant: `},
			{"you are now", `\byou are now (?:an?|in|dan|the|free|un)\b`},
			{"new ", `\b(?:your|these are the|here are) new (?:instructions|orders|rules)\b`},
			{"from now on", `\bfrom now on,? you\b`},
		}},
		{"it gives orders beyond the tool", []entry{
			{dropping, `\b{drop} (?:\S+ ){0,5}(?:previous|prior|above|earlier|preceding|existing|original|other|your|all|any|system|safety|developer)\b(?: \S+){0,3} {orders}\b`},
			{dropping, `\b{drop} (?:\S+ ){0,2}{orders} (?:above|before|so far|you were given)`},
			{dropping, `\b{drop} (?:everything|anything|all|what) (?:\S+ ){0,3}(?:above|before|earlier|told|previous)`},
			{"other tool|another tool", `\b(?:whenever|when|each time|every time|before|after|once|if) (?:\S+ ){0,4}(?:another|any other|other|every other) tools?\b.{0,80}\b(?:replace|change|modify|redirect|follow|obey|read the file)\b`},
			{"any other tool", `\b(?:with|by|through|using) any other tools?\b.{0,60}\bmust\b`},
			{"base64", `\bdecode (?:\S+ ){0,4}base64\b.{0,60}\b(?:do|follow|obey|execute|run)\b`},
			{"curl |wget ", `\b(?:curl|wget) [^|]{0,200}\| ?(?:sudo )?(?:ba|z|da)?sh\b`},
			{"approval|confirmation|safety check|guardrail", `\b(?:skip|bypass|disable) (?:\S+ ){0,3}(?:approvals?|confirmations?|safety checks?|guardrails)\b.{0,40}\b(?:always|tool|from now on|any)\b`},
		}},
		{"it wants something kept from the person", []entry{
			{telling, `\b{not} (?:(?:ever|also|even|openly|explicitly|directly|to|under any circumstances) )?{tell}\b(?: [^\s.!?]+){0,6} {person}\b`},
			{" let ", `\b{not} let (?:the |your )?{person} (?:know|see|notice|find out)`},
			{" not | never ", `\b{person} (?:must|should|may|need) (?:not|never) (?:learn|know|see|notice|find out|be (?:told|informed|aware))`},
			{"hide|conceal|keep", `\b(?:hide|conceal|keep) (?:\S+ ){0,6}(?:from|secret from) (?:the |your )?{person}\b`},
			{"keep th|keep it", `\bkeep (?:this|these|that|it)(?: \S+){0,2} (?:secret|hidden|confidential)\b`},
			{"mention", `\b{not} (?:\S+ ){0,2}mention (?:it|this|that|these)\b`},
			{"deny|lie |pretend", `\b(?:deny|lie|pretend) (?:that )?you (?:have |had |did |never )`},
			{" show th", `\b{not} show (?:this|these|that|the) (?:instruction|step|call|message|note|sidenote)s?\b`},
		}},
		{"it wants secrets read or passed on", []entry{
			{keyfiles, `\b(?:{take}|{give})\b(?: \S+){0,12} \S{0,30}{keyfile}`},
			{keyfiles, `{keyfile}.{0,80}\b(?:has to be|must be|should be|needs to be) (?:given|passed|sent|included|provided|added)`},
			{keyfiles, `\b(?:contents?|value) (?:of|from)\b(?: \S+){0,6} \S{0,30}{keyfile}.{0,60}\b(?:here|as|has|must|into)\b`},
			{"content_from_reading|key_content", `content_from_reading|\bssh_?(?:private_)?key_content`},
			{keyWords, `\b{take} (?:\S+ ){0,4}{keys}.{0,60}\b(?:and|then) {give}\b`},
			{keyWords, `\b(?:pass|put|paste|supply|hand|copy|append|dump) (?:\S+ ){0,6}(?:environment variables|env vars|[a-z0-9_]+_api_key|[a-z0-9_]*secret_access_key)`},
		}},
		{"it wants something sent elsewhere", []entry{
			{"conversation|chat |message|system prompt|dialog|context", `\b{give} (?:\S+ ){0,5}{talk}.{0,80}{where}`},
			{"system prompt", `\b{send} (?:\S+ ){0,5}system prompt`},
			{keyWords, `\b{send} (?:\S+ ){0,5}{keys}.{0,80}{where}`},
			{"cc", `\balways (?:add|set|put|include) \S+@\S+ (?:\S+ ){0,3}b?cc\b|\balways b?cc\b`},
			{"![", `!\[[^\]]*\]\(https?://[^)]*[?&][^)]*\).{0,120}\b(?:user|conversation|told|secret|data is)\b`},
		}},
		{"it gives orders in another language", foreign()},
	}
}

// foreign are the plainest of these sentences in the languages of most readers.
func foreign() []entry {
	return []entry{
		{"ignorier", `\bignorier(?:e|en sie)? .{0,30}(?:anweisungen|regeln|befehle)`},
		{"nutzer|person|anwender", `\b(?:sage?|sagen sie|erzähle?|verrate?) (?:dem|der) (?:benutzer|nutzer|person|anwender)(?:in)? .{0,20}nicht`},
		{keyfiles, `\b(?:lies|lesen sie|öffne|lis|lisez|ouvrez|ouvre|lee|leer|leggi|leia) .{0,60}{keyfile}`},
		{"ignore|oublie", `\b(?:ignore[rz]?|oublie[rz]?) .{0,30}(?:instructions|règles|consignes) (?:précédentes|antérieures)`},
		{"utilisateur", `\bne (?:dis|dites|dévoile[rz]?|mentionne[rz]?) .{0,20}utilisateur`},
		{"ignor", `\bignor[ae] .{0,30}(?:instrucciones|reglas|istruzioni|regole|instruções|regras)`},
		{"usuario|utente|usuário|utilizador", `\b(?:no (?:le |se lo )?(?:digas?|menciones?|informes?)|non (?:dirlo|dire|menzionare|informare)|não (?:conte|diga|mencione|informe)) .{0,30}(?:usuario|utente|usuário|utilizador)`},
		{"忽略|无视|忘记|無視", `(?:忽略|无视|忘记|無視).{0,12}(?:指令|指示|说明|規則|规则|提示)|(?:指示|命令|ルール).{0,8}無視`},
		{"用户|用戶|使用者", `(?:不要|请勿|別|别).{0,4}(?:告诉|告訴|通知|提及|透露).{0,8}(?:用户|用戶|使用者)`},
		{"ユーザー", `ユーザー.{0,10}(?:知らせない|伝えない|言わない|教えない)`},
		{"игнорир|забуд", `(?:игнорируй|игнорируйте|забудь|забудьте).{0,40}(?:инструкци|указани|правил)`},
		{"пользовател", `не (?:говори|говорите|сообщай|сообщайте|рассказывай|упоминай).{0,30}пользовател`},
		{"무시|사용자", `(?:지시|명령|규칙).{0,10}무시|사용자.{0,6}(?:알리지|말하지)`},
	}
}
