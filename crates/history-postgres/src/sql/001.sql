-- The first version. Narrow rows: of a test that passed, two ids, its duration
-- and how it ended. There are no foreign keys, which would cost each row a look
-- into two more indexes; only the functions below write.

create table jelly.projects (
    id int generated always as identity primary key,
    name text not null unique
);

create table jelly.branches (
    id int generated always as identity primary key,
    project_id int not null,
    name text not null,
    unique (project_id, name)
);

create sequence jelly.run_id as int;

create table jelly.runs (
    id int primary key,
    project_id int not null,
    branch_id int,
    at timestamptz,
    attempt bigint,
    shard int,
    shards int,
    kind text not null,
    commit text,
    run_key text
);
create index runs_at on jelly.runs (project_id, at);

create table jelly.reports (
    run_id int not null,
    project_id int not null,
    place int not null,
    duration_ms int,
    digest uuid,
    path text not null,
    plan text,
    unique (project_id, digest)
);
create index reports_run on jelly.reports (run_id);

create table jelly.tests (
    id int generated always as identity primary key,
    project_id int not null,
    key uuid not null,
    suite text not null,
    classname text not null,
    name text not null,
    unique (key, project_id)
);

create table jelly.causes (
    id int generated always as identity primary key,
    project_id int not null,
    fingerprint text not null,
    root_cause text not null,
    side text not null,
    body text not null,
    unique (project_id, fingerprint)
);

-- outcome: 0 passed, 1 failure, 2 error, 3 flaky. A test that has several results
-- in one run, as when two are called alike, came to the worst of them; the others
-- are -1, -2, -3, -4 in the same order.
create table jelly.results (
    run_id int not null,
    test_id int not null,
    cause_id int,
    duration_ms int,
    outcome smallint not null,
    print text
);
create index results_test on jelly.results (test_id, run_id);
create index results_failed on jelly.results (test_id, run_id) where cause_id is not null;
create index results_cause on jelly.results (cause_id, run_id) where cause_id is not null;
create index results_run on jelly.results using brin (run_id) with (pages_per_range = 16);

-- What a test consisted of when it passed.
create table jelly.definitions (
    project_id int not null,
    definition text not null,
    seen_on date not null,
    primary key (definition, project_id)
);

-- 8 bytes that stand for a text.
create function jelly.short(text) returns bigint
language sql immutable strict parallel safe
return ('x' || left(md5($1), 16))::bit(64)::bigint;

-- What passed on code of which is proved which it is: all steps of a plan in one
-- row, which many runs of the same share. A definition is kept by its short form.
create table jelly.proven (
    project_id int not null,
    seen_on date not null,
    passes uuid not null,
    code text not null,
    definitions bigint[] not null,
    primary key (code, passes, project_id)
);

-- Adds a run, without the reports that are recorded already. Gives back its id;
-- 0 where all of it was there. What is written by several tables at once is
-- written in the order of its keys, so that no two writers wait for each other.
create function jelly.record_1(run jsonb) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
    project int;
    branch int;
    this int;
    kept int[];
begin
    select p.id into project from jelly.projects p
        where p.name = coalesce(run->>'project', '');
    if project is null then
        insert into jelly.projects (name) values (coalesce(run->>'project', ''))
            on conflict (name) do nothing;
        select p.id into project from jelly.projects p
            where p.name = coalesce(run->>'project', '');
    end if;
    if run->>'branch' is not null then
        select b.id into branch from jelly.branches b
            where b.project_id = project and b.name = run->>'branch';
        if branch is null then
            insert into jelly.branches (project_id, name) values (project, run->>'branch')
                on conflict (project_id, name) do nothing;
            select b.id into branch from jelly.branches b
                where b.project_id = project and b.name = run->>'branch';
        end if;
    end if;

    this := nextval('jelly.run_id');
    with added as (
        insert into jelly.reports (run_id, project_id, place, digest, path, plan, duration_ms)
        select this, project, (r.n - 1)::int, (r.report->>'key')::uuid, r.report->>'path',
            r.report->>'plan', (r.report->>'duration_ms')::int
        from jsonb_array_elements(run->'reports') with ordinality r(report, n)
        order by (r.report->>'key')::uuid
        on conflict (project_id, digest) do nothing
        returning place
    )
    select array_agg(added.place) into kept from added;
    if kept is null and jsonb_array_length(run->'reports') > 0 then
        return 0;
    end if;

    insert into jelly.runs
        (id, project_id, branch_id, at, attempt, shard, shards, kind, commit, run_key)
    values (this, project, branch, (run->>'at')::timestamptz, (run->>'attempt')::bigint,
        (run->>'shard')::int, (run->>'shards')::int, run->>'kind', run->>'commit',
        run->>'run_key');

    insert into jelly.tests (project_id, key, suite, classname, name)
    select distinct on (key) project, (t->>0)::uuid as key, t->>1, t->>2, t->>3
    from jsonb_array_elements(run->'tests') t
    where not exists (
        select from jelly.tests known
        where known.project_id = project and known.key = (t->>0)::uuid
    )
    order by key
    on conflict (key, project_id) do nothing;

    insert into jelly.causes (project_id, fingerprint, root_cause, side, body)
    select project, c->>'fingerprint', c->>'root_cause', c->>'side', c->>'body'
    from jsonb_array_elements(run->'causes') c
    order by c->>'fingerprint'
    on conflict (project_id, fingerprint) do update
        set root_cause = excluded.root_cause, side = excluded.side, body = excluded.body
        where excluded.body <> '' and causes.body <> excluded.body;

    -- What names no report of the run belongs to the run as a whole.
    insert into jelly.results (run_id, test_id, cause_id, duration_ms, outcome, print)
    select this, r.test_id, c.id, r.duration_ms,
        case r.place when 1 then r.outcome else -1 - r.outcome end, r.print
    from (
        select t.id as test_id, r.n, r.result->>3 as fingerprint, r.result->>4 as print,
            (r.result->>5)::int as duration_ms, (r.result->>2)::smallint as outcome,
            row_number() over (
                partition by t.id
                order by r.result->>2 in ('1', '2') desc, r.result->>2 = '3' desc, r.n
            ) as place
        from jsonb_array_elements(run->'results') with ordinality r(result, n)
        join jelly.tests t on t.project_id = project and t.key = (r.result->>1)::uuid
        where (r.result->>0)::int = any (kept)
            or (r.result->>0)::int >= jsonb_array_length(run->'reports')
    ) r
    left join jelly.causes c on c.project_id = project and c.fingerprint = r.fingerprint
    order by r.n;

    insert into jelly.definitions (project_id, definition, seen_on)
    select distinct project, d, current_date
    from jsonb_array_elements_text(run->'definitions') d
    order by d
    on conflict (definition, project_id) do update set seen_on = excluded.seen_on
        where definitions.seen_on < excluded.seen_on - 7;

    insert into jelly.proven (project_id, seen_on, passes, code, definitions)
    select distinct on (code, passes) project, current_date, md5(p->>'definitions')::uuid as passes,
        p->>'code' as code, array(
            select jelly.short(d) from jsonb_array_elements_text(p->'definitions') d
        )
    from jsonb_array_elements(run->'proven') p
    order by code, passes
    on conflict (code, passes, project_id) do update set seen_on = excluded.seen_on
        where proven.seen_on < excluded.seen_on - 7;
    return this;
end
$$;

-- Takes out some of the runs that are older, with all that is theirs; gives back
-- how many.
create function jelly.prune_1(before timestamptz, most int) returns int
language plpgsql security definer set search_path = pg_catalog as $$
declare
    old int[];
begin
    select array_agg(r.id) into old from (
        select id from jelly.runs where at < before order by id limit most
    ) r;
    if old is null then
        delete from jelly.definitions where seen_on < before::date;
        delete from jelly.proven where seen_on < before::date;
        return 0;
    end if;
    delete from jelly.results
        where run_id between old[1] and old[array_length(old, 1)] and run_id = any (old);
    delete from jelly.reports where run_id = any (old);
    delete from jelly.runs where id = any (old);
    return array_length(old, 1);
end
$$;

-- For who may read the tables.
grant execute on function jelly.short(text) to public;
revoke execute on function jelly.record_1(jsonb) from public;
revoke execute on function jelly.prune_1(timestamptz, int) from public;
