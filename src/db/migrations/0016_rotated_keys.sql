-- The key that a rotated key was replaced by: its end is that of the grace, which its successor must not inherit.
alter table api_keys add column rotated_to text;
