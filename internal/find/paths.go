package find

import "strings"

// kindsOfFiles is what people call files by their endings. Those that are plain
// text are files and no more: what they hold is not what is done with them.
const kindsOfFiles = `docx doc odt: word document
xlsx xls ods: excel spreadsheet
pptx ppt odp: powerpoint presentation
pdf: pdf
csv tsv: csv
png jpg jpeg gif webp bmp tiff: image
svg: svg image
mp3 wav flac ogg m4a: audio
mp4 mov mkv avi webm: video
zip tar gz tgz rar 7z: archive
md txt html htm json xml yaml yml toml ini log py js ts go java c cpp h rs rb php sh sql bib tex:`

// fileKinds gives for an ending what such a file is called.
func fileKinds() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(kindsOfFiles) {
		ends, kind, _ := strings.Cut(strings.TrimSpace(line), ":")
		for end := range strings.FieldsSeq(ends) {
			out[end] = strings.TrimSpace(kind + " file")
		}
	}
	return out
}

// readPaths puts what a path stands for into its place in a query: how its folders
// are called says nothing of what is wanted, while it does that it is a file, and
// of which kind.
func (x *Index) readPaths(query string) string {
	if !strings.ContainsAny(query, `/\`) {
		return query
	}
	var out strings.Builder
	for query != "" {
		end := strings.IndexAny(query, " \t\r\n")
		if end < 0 {
			end = len(query)
		}
		word := strings.TrimRight(strings.TrimLeft(query[:end], "\"'`([<"), "\"'`)]>,;:!?.")
		if kind, ok := x.fileKind(word); ok {
			at := strings.Index(query, word)
			out.WriteString(query[:at] + kind + query[at+len(word):end])
		} else {
			out.WriteString(query[:end])
		}
		rest := strings.TrimLeft(query[end:], " \t\r\n")
		out.WriteString(query[end : len(query)-len(rest)])
		query = rest
	}
	return out.String()
}

// fileKind tells what the file of a path is called. Names without a folder are
// left alone, because what.is.this or node.js may be one, and so are addresses.
func (x *Index) fileKind(word string) (kind string, ok bool) {
	name := word[strings.LastIndexAny(word, `/\`)+1:]
	dot := strings.LastIndexByte(name, '.')
	if name == word || dot < 0 || strings.Contains(word, "://") {
		return "", false
	}
	kind, ok = x.kinds[strings.ToLower(name[dot+1:])]
	return kind, ok
}
