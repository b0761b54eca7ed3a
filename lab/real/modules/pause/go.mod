module hyperfleet.io/lab/pause

go 1.22
