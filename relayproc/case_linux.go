package relayproc

// caseless says whether paths differing in case name the same file.
const caseless = false
