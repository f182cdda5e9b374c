-- A session's day is that of the organization's time zone, and written by the program.
alter table sessions alter column day drop expression;
