package find

import (
	"slices"
	"testing"
)

// TestDeeds: of tools that share all other words with a query, those that do what
// it wants done are ahead; where it wants several things, or nothing that is known,
// the words alone decide.
func TestDeeds(t *testing.T) {
	docs := []Doc{
		{Name: "get_paragraph_of_document", Description: "Paragraph of a Word document."},
		{Name: "add_paragraph", Description: "Paragraph of a Word document, at its end."},
		{Name: "delete_paragraph", Description: "Paragraph of a Word document, by its number."},
		{Name: "paragraph", Description: "Paragraph of a Word document, and more."},
	}
	x := New(docs)
	for query, want := range map[string]int{
		"write a paragraph of the word document": 1, "insert a paragraph": 1, "read the paragraph of a document": 0, "remove a paragraph": 2,
	} {
		if hits := x.Search(query, 4); len(hits) != 4 || hits[0].Doc != want && !(hits[0].Doc == 3 && hits[1].Doc == want) {
			t.Errorf("%s: %v, want %d ahead", query, places(hits), want)
		}
	}
	for query, want := range map[string]deed{
		"write it": makes, "show it": looks, "read and write it": 0, "paragraph": 0, "": 0, "读取文件": looks, "lösche die Datei von gestern": removes,
		"we had a long talk with all of them and then somebody came who said that he would delete it": 0,
	} {
		if got := x.wanted(x.translated(tokens(query))); got != want {
			t.Errorf("%q wants %b, not %b", query, got, want)
		}
	}
	for want, d := range map[deed]Doc{removes: {Name: "web-search__delete", Box: "web_search"}, looks: {Name: "search", Box: "search"}, makes: {Name: "addRow", Box: "add_row"}} {
		if got := x.deedOf(&d); got != want {
			t.Errorf("%s of %s does %b, want %b", d.Name, d.Box, got, want)
		}
	}
	if got, want := x.does, []deed{looks, makes, removes, 0}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// TestReadPaths: a path counts by what it is of, not by what folders are called.
func TestReadPaths(t *testing.T) {
	x := New(nil)
	for query, want := range map[string]string{
		"save it to /data/markdown/cv.md":          "save it to file",
		"open './a/Report.DOCX', please.":          "open 'word document file', please.",
		`read C:\tmp\music\list.csv and then stop`: "read csv file and then stop",
		"one\ntwo /x/y.png.\nthree":                "one\ntwo image file.\nthree",
		"this and/or that":                         "this and/or that",
		"the folder /var/log":                      "the folder /var/log",
		"look at https://example.org/a.pdf":        "look at https://example.org/a.pdf",
		"use node.js":                              "use node.js",
		"go to /.md":                               "go to file",
		"/":                                        "/",
		"":                                         "",
	} {
		if got := x.readPaths(query); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	docs := []Doc{{Name: "html_to_markdown", Description: "Convert HTML to Markdown."}, {Name: "save_file", Description: "Save text to a file."}}
	if hits := New(docs).Search("save it to /data/html/markdown/cv.md", 1); hits[0].Doc != 1 {
		t.Errorf("%v", hits)
	}
}
