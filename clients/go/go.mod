module example.com/cloud-analytics/clients/go

go 1.19
