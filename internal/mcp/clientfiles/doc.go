// Package clientfiles reads and edits the files in which MCP clients keep their servers: Claude Desktop and Code, Cursor,
// VS Code, Windsurf, Codex, Gemini CLI, Zed, opencode, Cline and its forks, Goose, Crush, AgenticX, Agent Plugins, Kiro,
// Copilot CLI, Junie, Amp, Continue, Amazon Q and LM Studio.
//
// Every client has its own file format, its own keys and its own way to write a variable. Read turns each into the one
// form Server; Export turns that form into the file of a client; Add and Remove change one server in a file that a
// person keeps, and leave every other byte of it as it was. Secrets takes credentials out of a Server so that they can
// go into the vault. Text goes in and text comes out: finding, writing and backing up files is the caller's work, and
// Places and Detect help with it. Wiring and joints import this package.
//
// In a Server, texts are written our way: ${VAR}, ${VAR:-default}, ${secret:NAME}, and $${ for a plain ${. What a client
// passes on as it stands is escaped, so that a foreign file can name neither a variable nor a secret that the client
// would not have put in.
//
// A Server never has more than the file gave it: it is switched off where the file says so or may mean it, its lists of
// tools are at most those of the file, and approvals are not taken over at all. What a key says that is not taken over is
// in Dropped, by the name of the key.
//
// The invariant: nothing is run, fetched or looked up. What a client would run or read while loading its file, as $(…)
// and {file:…}, makes that server a Problem. And no Problem and no note carries a value out of a file, since any value
// may be a credential: they carry keys, names and line numbers.
package clientfiles
