package toolcrib

// AllCodes is for the test that holds the list in cribtest against it.
var AllCodes = codes
