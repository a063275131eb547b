module github.com/OWNER/toolwire/clients/go

go 1.24
