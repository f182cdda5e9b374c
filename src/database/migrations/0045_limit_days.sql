-- Sums of the windows of limits by day, of the organization's time zone: a list of seats reads them in place of the windows.
alter table limit_windows add column day date;
update limit_windows set day = (coalesce(hit_at, last_at) at time zone 'UTC')::date;
do $$
declare
  o record;
begin
  for o in select org_id, time_zone from organizations where time_zone <> 'UTC' loop
    if exists (select from pg_timezone_names z where z.name = o.time_zone) then
      update limit_windows set day = (coalesce(hit_at, last_at) at time zone o.time_zone)::date where org_id = o.org_id;
    end if;
  end loop;
end
$$;
alter table limit_windows alter column day set not null;
drop index limit_windows_by_time;
create index limit_windows_by_day on limit_windows (org_id, day, member);
create index limit_windows_by_end on limit_windows (org_id, ends, member);

create table limit_days (
  org_id text not null,
  -- that of the first hit of a window, else of what was observed last
  day date not null,
  member text not null,
  vendor text not null,
  limit_name text not null,
  scope text not null,
  windows bigint not null,
  hits bigint not null,
  -- microseconds
  blocked bigint not null,
  overage boolean not null,
  peak_percent numeric(10, 6) not null,
  primary key (org_id, day, member, vendor, limit_name, scope)
);
insert into limit_days
select
  w.org_id, w.day, w.member, w.vendor, w.limit_name, w.scope, count(*), count(w.hit_at),
  coalesce(sum(
    (
      extract(epoch from greatest(
        least(
          case
            when w.resets then w.ends
            else w.hit_at + case w.limit_name
              when 'five_hour' then interval '5 hours'
              when 'week' then interval '168 hours'
              when 'month' then interval '720 hours'
              when 'credits' then interval '720 hours'
              when 'spend' then interval '720 hours'
              else interval '1 hour'
            end
          end,
          w.resumed_at
        ) - w.hit_at,
        '0'
      )) * 1000000
    )::bigint
  ), 0),
  bool_or(w.overage), max(w.peak_percent)
from limit_windows w
group by w.org_id, w.day, w.member, w.vendor, w.limit_name, w.scope
order by w.org_id, w.day;
