-- A shared store: the measurements, the queue of a farm's tunings, and what each login may do with them.
--
-- Logins read tables and change them through the functions below only, which run with the rights of the schema's owner
-- and know the caller as session_user. So a login can add, but not alter or withhold what another one has added.
-- 'clatune store init' runs this text in one transaction, also to upgrade: running it again changes nothing.

-- Two commands at once take turns; but any login can hold this lock, so it is not waited for longer.
DO $$ BEGIN
  FOR i IN 1..10 LOOP
    EXIT WHEN pg_try_advisory_xact_lock(1129075781);
    PERFORM pg_sleep(0.1);
  END LOOP;
END $$;

-- Roles to grant to logins. Another command may create them at the same time, because roles belong to the server, not to
-- the database.
DO $$ DECLARE role text; BEGIN
  FOREACH role IN ARRAY ARRAY['clatune_reader', 'clatune_worker', 'clatune_owner'] LOOP
    BEGIN EXECUTE 'CREATE ROLE ' || role || ' NOLOGIN';
    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END;
  END LOOP;
END $$;

CREATE SCHEMA IF NOT EXISTS clatune;
CREATE TABLE IF NOT EXISTS clatune.about(version integer NOT NULL);

-- --- measurements ---

-- Texts are compared by bytes, independently of the database's language.
CREATE TABLE IF NOT EXISTS clatune.problem(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, hash text COLLATE "C" NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS clatune.device(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text COLLATE "C" NOT NULL,
  driver text COLLATE "C" NOT NULL, UNIQUE(key, driver));
CREATE TABLE IF NOT EXISTS clatune.key(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, problem bigint NOT NULL REFERENCES clatune.problem,
  device bigint NOT NULL REFERENCES clatune.device, UNIQUE(problem, device));
-- What a login says a key is: description is of the device. It counts for what that login has measured, and for the
-- login itself (postgresql.c).
CREATE TABLE IF NOT EXISTS clatune.described(
  id bigint GENERATED ALWAYS AS IDENTITY, key bigint NOT NULL REFERENCES clatune.key, login text COLLATE "C" NOT NULL,
  name text NOT NULL DEFAULT '', path text NOT NULL DEFAULT '', sizes text NOT NULL DEFAULT '',
  kernel text NOT NULL DEFAULT '', description text NOT NULL DEFAULT '', tuning text NOT NULL DEFAULT '',
  PRIMARY KEY(key, login));
CREATE INDEX IF NOT EXISTS described_by ON clatune.described(login);
-- Who made the key.
ALTER TABLE clatune.key ADD COLUMN IF NOT EXISTS maker text NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS key_of ON clatune.key(maker);
CREATE TABLE IF NOT EXISTS clatune.turn(login text COLLATE "C" PRIMARY KEY, n bigint NOT NULL DEFAULT 0); -- take_turn

-- origin and number identify a record; txid says whether it came before or after what a reader has seen (postgresql.c).
-- In a restored backup txid belongs to another server, so it is set below all new ones. agent and received: who
-- delivered it (NULL: before version 4), and when, by the server's clock.
CREATE TABLE IF NOT EXISTS clatune.measurement(
  origin text COLLATE "C" NOT NULL, number bigint NOT NULL,
  txid bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint, id bigint GENERATED ALWAYS AS IDENTITY,
  key bigint NOT NULL REFERENCES clatune.key, kind text COLLATE "C" NOT NULL, configuration text NOT NULL,
  reason text COLLATE "C" NOT NULL, time_s float8, clock text NOT NULL, build_s float8, first_launch_s float8,
  runs_s float8, verify_s float8, wait_s float8, max_abs_error float8, log text, created_s bigint NOT NULL,
  runs float8[], energy_J float8, figures float8[], use float8[], confirmed bigint NOT NULL DEFAULT 0,
  PRIMARY KEY(origin, number));
ALTER TABLE clatune.measurement ADD COLUMN IF NOT EXISTS comparison bigint NOT NULL DEFAULT 0;
ALTER TABLE clatune.measurement ADD COLUMN IF NOT EXISTS state float8[];
ALTER TABLE clatune.measurement ADD COLUMN IF NOT EXISTS agent bigint;
ALTER TABLE clatune.measurement ADD COLUMN IF NOT EXISTS received timestamptz;
ALTER TABLE clatune.measurement ALTER COLUMN received SET DEFAULT clock_timestamp();
CREATE INDEX IF NOT EXISTS measurement_of ON clatune.measurement(key, txid, id);
CREATE INDEX IF NOT EXISTS measurement_received ON clatune.measurement(key, id);
CREATE INDEX IF NOT EXISTS measurement_since ON clatune.measurement(txid, id);
CREATE INDEX IF NOT EXISTS measurement_finalist ON clatune.measurement(key, txid, id) WHERE kind='finalist';
CREATE INDEX IF NOT EXISTS measurement_speed ON clatune.measurement(key, coalesce(time_s, 0), id)
  WHERE kind='search' AND reason='none';
UPDATE clatune.measurement SET txid=1 WHERE txid > pg_current_xact_id()::text::bigint;

-- Measurements that the owner has set apart, with the same columns. gone: as txid.
CREATE TABLE IF NOT EXISTS clatune.revoked(LIKE clatune.measurement,
  gone bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint, PRIMARY KEY(origin, number));
-- Ids were integers, which a login can use up in a day by transactions that it undoes.
DO $$ BEGIN
  IF EXISTS (SELECT FROM information_schema.columns WHERE table_schema = 'clatune' AND table_name = 'problem'
             AND column_name = 'id' AND data_type = 'integer') THEN
    ALTER TABLE clatune.problem ALTER id TYPE bigint;
    ALTER TABLE clatune.device ALTER id TYPE bigint;
    ALTER TABLE clatune.key ALTER id TYPE bigint, ALTER problem TYPE bigint, ALTER device TYPE bigint;
    ALTER TABLE clatune.described ALTER key TYPE bigint;
    ALTER TABLE clatune.measurement ALTER key TYPE bigint;
    ALTER TABLE clatune.revoked ALTER key TYPE bigint;
  END IF;
END $$;
DROP INDEX IF EXISTS clatune.revoked_since;
CREATE INDEX IF NOT EXISTS revoked_from ON clatune.revoked(gone, origin, number);
UPDATE clatune.revoked SET gone=1 WHERE gone > pg_current_xact_id()::text::bigint;

-- --- the farm ---

-- Processes that have delivered something or work on plans; name: "host:process:random".
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM information_schema.columns WHERE table_schema = 'clatune' AND table_name = 'agent'
                 AND column_name = 'login') THEN DROP TABLE IF EXISTS clatune.agent; END IF;
END $$;
CREATE TABLE IF NOT EXISTS clatune.agent(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, login text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
  host text COLLATE "C" NOT NULL GENERATED ALWAYS AS (split_part(name, ':', 1)) STORED,
  devices text NOT NULL DEFAULT '', lost text NOT NULL DEFAULT '',
  began timestamptz NOT NULL DEFAULT clock_timestamp(), seen timestamptz NOT NULL DEFAULT 'epoch', UNIQUE(login, name));
ALTER TABLE clatune.agent ADD COLUMN IF NOT EXISTS described json NOT NULL DEFAULT '[]'; -- its devices

-- Before version 5 a key had one description, for all who measured it. '': unknown logins.
DO $$ BEGIN
  IF EXISTS (SELECT FROM information_schema.columns WHERE table_schema = 'clatune' AND table_name = 'problem'
             AND column_name = 'name') THEN
    INSERT INTO clatune.described(key, login, name, path, sizes, kernel, description, tuning)
      SELECT k.id, m.login, p.name, p.path, p.sizes, p.kernel, d.description, k.tuning
      FROM (SELECT DISTINCT m.key, coalesce(a.login, '') AS login FROM clatune.measurement AS m
            LEFT JOIN clatune.agent AS a ON a.id = m.agent) AS m
        JOIN clatune.key AS k ON k.id = m.key JOIN clatune.problem AS p ON p.id = k.problem
        JOIN clatune.device AS d ON d.id = k.device ORDER BY k.id
      ON CONFLICT DO NOTHING;
    ALTER TABLE clatune.problem DROP COLUMN name, DROP COLUMN path, DROP COLUMN sizes, DROP COLUMN kernel,
      DROP COLUMN IF EXISTS login;
    ALTER TABLE clatune.device DROP COLUMN description, DROP COLUMN IF EXISTS login;
    ALTER TABLE clatune.key DROP COLUMN tuning, DROP COLUMN IF EXISTS login;
  END IF;
END $$;

-- Plans, a target for each kind of device that works on one, and a row for each of its tunings (farm/queue.c).
-- plan.seen: the measurements that were visible when the plan was submitted. cell.attempts: how often the lease expired
-- without more progress than in all attempts before (best), counted when the next attempt begins. cell.lease: for an
-- open row, when the agent that failed on it may try again; lease_s: as the plan had it at the claim. cell.claim is a
-- secret of the agent that works on the row.
-- lease_s and attempts are bounded, because larger values would make the claims of all agents fail.
CREATE TABLE IF NOT EXISTS clatune.plan(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, text text NOT NULL,
  hash text GENERATED ALWAYS AS (md5(text)) STORED UNIQUE,
  lease_s float8 NOT NULL CHECK(lease_s BETWEEN 0 AND 1e7),
  submitted timestamptz NOT NULL DEFAULT clock_timestamp());
ALTER TABLE clatune.plan ADD COLUMN IF NOT EXISTS seen pg_snapshot NOT NULL DEFAULT pg_current_snapshot();
ALTER TABLE clatune.plan ADD COLUMN IF NOT EXISTS withdrawn boolean NOT NULL DEFAULT false; -- also the rows to come
ALTER TABLE clatune.plan ADD COLUMN IF NOT EXISTS maker text NOT NULL DEFAULT ''; -- the login that submitted it
CREATE INDEX IF NOT EXISTS plan_of ON clatune.plan(maker, id);
-- How many tunings it has on each device: its "#cells" begins with the number.
ALTER TABLE clatune.plan ADD COLUMN IF NOT EXISTS n_cells bigint NOT NULL
  GENERATED ALWAYS AS (coalesce(substring(text FROM '"#cells":"(\d{1,9}) [0-9a-f]{32}"')::bigint, 0)) STORED;
CREATE TABLE IF NOT EXISTS clatune.target(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, plan bigint NOT NULL REFERENCES clatune.plan,
  device text COLLATE "C" NOT NULL, driver text COLLATE "C" NOT NULL, name text NOT NULL, UNIQUE(plan, device, driver));
ALTER TABLE clatune.target DROP COLUMN IF EXISTS lease_s;
ALTER TABLE clatune.target ADD COLUMN IF NOT EXISTS maker text NOT NULL DEFAULT ''; -- the login that added it
CREATE TABLE IF NOT EXISTS clatune.cell(
  target bigint NOT NULL REFERENCES clatune.target, n bigint NOT NULL, text text NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'open' CHECK(state IN ('open', 'running', 'done', 'failed')),
  claim text COLLATE "C" UNIQUE, agent text COLLATE "C", lease timestamptz, began timestamptz,
  finished timestamptz, progress bigint NOT NULL DEFAULT 0,
  attempts bigint NOT NULL DEFAULT 0 CHECK(attempts BETWEEN 0 AND 100),
  best bigint NOT NULL DEFAULT -1, output text, code bigint,
  PRIMARY KEY(target, n)) WITH (fillfactor = 70);
ALTER TABLE clatune.cell ADD COLUMN IF NOT EXISTS login text COLLATE "C";
ALTER TABLE clatune.cell ADD COLUMN IF NOT EXISTS lease_s float8 NOT NULL DEFAULT 120;
-- The first and the last result of each login for a tuning, whatever became of the row after it. best_origin,
-- best_number: the measurement that it rests on.
CREATE TABLE IF NOT EXISTS clatune.result(
  id bigint GENERATED ALWAYS AS IDENTITY, target bigint NOT NULL, n bigint NOT NULL, login text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL, line text NOT NULL CHECK(octet_length(line) <= 65536), best_origin text COLLATE "C",
  best_number bigint, finished timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY(target, n, login, id));
-- Before version 7 a row had one, and before version 6 it rested on a measurement with the time of its line, which has
-- twelve digits of it. A worker may have written any line: what is longer is no time, and no number for float8.
DO $$ BEGIN
  IF EXISTS (SELECT FROM information_schema.columns WHERE table_schema = 'clatune' AND table_name = 'cell'
             AND column_name = 'line') THEN
    ALTER TABLE clatune.cell ADD COLUMN IF NOT EXISTS best_origin text, ADD COLUMN IF NOT EXISTS best_number bigint;
    UPDATE clatune.cell AS c SET best_origin = m.origin, best_number = m.number
      FROM clatune.target AS t, clatune.device AS d, clatune.key AS k, clatune.measurement AS m
      WHERE c.state = 'done' AND c.best_origin IS NULL AND t.id = c.target AND d.key = t.device AND d.driver = t.driver
        AND k.device = d.id AND m.key = k.id AND m.reason = 'none' AND m.kind IN ('search', 'finalist')
        AND to_char(m.time_s, '9.99999999999EEEE') = to_char(
          substring(c.line FROM '"best_s":(\d{1,20}(?:\.\d{1,30})?(?:e[+-]?\d\d?)?)[,}]')::float8, '9.99999999999EEEE')
        AND m.configuration = (SELECT string_agg(v[1] || '=' || v[2], ' ' ORDER BY v[1] COLLATE "C") FROM regexp_matches(
          substring(c.line FROM '"configuration":{([^}]*)}'), '"([^"]*)":"?([^",]*)', 'g') AS v);
    INSERT INTO clatune.result(target, n, login, agent, line, best_origin, best_number, finished)
      SELECT target, n, coalesce(login, ''), coalesce(agent, ''), line, best_origin, best_number, finished
      FROM clatune.cell WHERE state = 'done' AND line IS NOT NULL;
    ALTER TABLE clatune.cell DROP COLUMN line, DROP COLUMN best_origin, DROP COLUMN best_number;
  END IF;
END $$;
-- Of earlier versions: agents that claimed tunings without a greeting, so that they can be revoked.
INSERT INTO clatune.agent(login, name) SELECT DISTINCT login, agent FROM clatune.cell
  WHERE login IS NOT NULL AND agent IS NOT NULL ON CONFLICT DO NOTHING;
CREATE INDEX IF NOT EXISTS cell_left ON clatune.cell(target, n) WHERE state IN ('open', 'running');
CREATE INDEX IF NOT EXISTS cell_begun ON clatune.cell(target, n) WHERE began IS NOT NULL;
CREATE INDEX IF NOT EXISTS cell_running ON clatune.cell(target) WHERE state = 'running';
CREATE INDEX IF NOT EXISTS cell_died ON clatune.cell(target, n) WHERE attempts > 0;

-- The login that an origin belongs to: the first that claimed a tuning or delivered measurements with it. target and n:
-- the tuning.
CREATE TABLE IF NOT EXISTS clatune.origin(
  name text COLLATE "C" PRIMARY KEY, login text COLLATE "C" NOT NULL, target bigint, n bigint);
-- Its login delivered two different records with the same number: the login may be stolen.
ALTER TABLE clatune.origin ADD COLUMN IF NOT EXISTS disputed boolean NOT NULL DEFAULT false;

-- Under which origin a login's records of an origin of another login are kept. Drawn, so that nobody can take it before.
CREATE TABLE IF NOT EXISTS clatune.substitute(
  login text COLLATE "C" NOT NULL, origin text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL
    DEFAULT left(replace(gen_random_uuid()::text, '-', ''), 16), PRIMARY KEY(login, origin));

-- How far an agent's file was received.
CREATE TABLE IF NOT EXISTS clatune.shipper(file text COLLATE "C" PRIMARY KEY, upto bigint NOT NULL);
ALTER TABLE clatune.shipper ADD COLUMN IF NOT EXISTS login text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE clatune.shipper DROP CONSTRAINT IF EXISTS shipper_pkey;
DELETE FROM clatune.shipper WHERE login = ''; -- of version 3: the files are sent once more
CREATE UNIQUE INDEX IF NOT EXISTS shipper_of ON clatune.shipper(login, file);

-- Of earlier databases, with other parameters or columns.
DROP FUNCTION IF EXISTS clatune.finish(bigint, bigint, text, text, bigint), clatune.greet(text, text, text),
  clatune.may_describe(text, integer[]), clatune.submit(text, text, float8, boolean), clatune.n_cells(text);

-- --- functions for all: parts of statements ---

-- The first numbers of an array. One of several dimensions becomes one that readers refuse.
CREATE OR REPLACE FUNCTION clatune.cut(numbers float8[]) RETURNS float8[] LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN array_ndims(numbers) > 1 THEN array_fill('NaN'::float8, ARRAY[256]) ELSE numbers[1:256] END $$;

-- A number, unless it is none or infinite.
CREATE OR REPLACE FUNCTION clatune.finite(x float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN abs(x) < 'Infinity' THEN x END $$;
CREATE OR REPLACE FUNCTION clatune.finite(numbers float8[]) RETURNS float8[] LANGUAGE sql IMMUTABLE AS
$$ SELECT array_agg(clatune.finite(x) ORDER BY i) FROM unnest(numbers) WITH ORDINALITY AS u(x, i) WHERE i <= 256 $$;

-- A text for a line of output.
CREATE OR REPLACE FUNCTION clatune.one_line(text text, n integer) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT regexp_replace(left(text, n), '[[:cntrl:]]', '?', 'g') $$;

-- The names of an agent's devices, as those of targets, and short enough for an index.
CREATE OR REPLACE FUNCTION clatune.names(devices text) RETURNS text[] LANGUAGE sql IMMUTABLE AS
$$ SELECT array_agg(left(name, 200)) FROM unnest(string_to_array(devices, '; ')) AS name $$;
CREATE INDEX IF NOT EXISTS agent_names ON clatune.agent USING gin(clatune.names(devices)) WITH (fastupdate = off);

-- who: a login, an agent, a host, or the latter two with their login before a slash.
CREATE OR REPLACE FUNCTION clatune.is_of(agent clatune.agent, who text) RETURNS boolean LANGUAGE sql AS
$$ SELECT who IN (agent.login, agent.name, agent.host, agent.login || '/' || agent.name, agent.login || '/' || agent.host) $$;

-- A lease only counts as expired if the server has run for a whole lease: before, agents could not renew it.
CREATE OR REPLACE FUNCTION clatune.lease_end(lease timestamptz, lease_s float8) RETURNS timestamptz LANGUAGE sql AS
$$ SELECT greatest(lease, pg_postmaster_start_time() + make_interval(secs => lease_s)) $$;

CREATE OR REPLACE FUNCTION clatune.deaths(attempts bigint, best bigint, progress bigint) RETURNS bigint LANGUAGE sql
IMMUTABLE AS $$ SELECT CASE WHEN progress > best THEN 1 ELSE least(attempts + 1, 100) END $$;

-- If many tunings of a target end without a report, for example because machines are switched off, the tuning itself is
-- probably not the cause: it gets up to three more attempts.
CREATE OR REPLACE FUNCTION clatune.is_used_up(c clatune.cell) RETURNS boolean LANGUAGE sql AS
$$ SELECT CASE WHEN clatune.deaths(c.attempts, c.best, c.progress) < 3 THEN false
   ELSE clatune.deaths(c.attempts, c.best, c.progress) >= 3 + least(3, (SELECT count(*) FROM clatune.cell AS o
     WHERE o.target = c.target AND o.attempts > 0 AND o.n <> c.n) / 4) END $$;

-- The origin of a claim's measurements.
CREATE OR REPLACE FUNCTION clatune.origin_of(claim text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT left(md5(claim), 16) $$;

-- --- functions for workers: measurements ---

CREATE OR REPLACE FUNCTION clatune.agent_id(_name text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
DECLARE found bigint;
BEGIN
  SELECT id INTO found FROM agent WHERE login = session_user AND name = one_line(_name, 200);
  IF found IS NULL THEN
    INSERT INTO agent(login, name) VALUES (session_user, one_line(_name, 200)) ON CONFLICT DO NOTHING;
    SELECT id INTO found FROM agent WHERE login = session_user AND name = one_line(_name, 200);
  END IF;
  RETURN found;
END $$;

-- What a login adds is limited. A transaction sees only what is committed, so those of a login that may add too much take
-- turns, by a lock that no other login can hold.
CREATE OR REPLACE FUNCTION clatune.take_turn() RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
  INSERT INTO turn AS t(login) VALUES (session_user) ON CONFLICT (login) DO UPDATE SET n = t.n + 1 $$;

-- Readers get through all keys and keep all descriptions in memory.
CREATE OR REPLACE FUNCTION clatune.check_limits() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
DECLARE keys bigint; bytes bigint;
BEGIN
  FOR i IN 1..2 LOOP
    SELECT count(*) INTO keys FROM key WHERE maker = session_user;
    SELECT coalesce(sum(octet_length(name) + octet_length(path) + octet_length(sizes) + octet_length(description)
      + octet_length(tuning)), 0) INTO bytes FROM described WHERE login = session_user;
    IF keys > 100000 THEN
      RAISE EXCEPTION '% has measured on more than 100000 combinations of problem, sizes and device', session_user
        USING ERRCODE = '54000';
    END IF;
    IF bytes > 268435456 THEN
      RAISE EXCEPTION '% has described what it measures in more than 256 MiB', session_user USING ERRCODE = '54000';
    END IF;
    EXIT WHEN keys < 1000 AND bytes < 2097152;
    PERFORM take_turn();
  END LOOP;
END $$;

-- Creates the rows of keys, which their records and descriptions refer to. Sorted, so that two agents that insert the
-- same rows do not deadlock.
CREATE OR REPLACE FUNCTION clatune.add_keys(_keys json) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM json_to_recordset(_keys) AS u(problem text, device text, driver text) WHERE NOT EXISTS
      (SELECT FROM key AS k JOIN problem AS p ON p.id = k.problem JOIN device AS d ON d.id = k.device
       WHERE p.hash = u.problem AND d.key = u.device AND d.driver = u.driver)) THEN
    RETURN;
  END IF;
  INSERT INTO problem(hash) SELECT DISTINCT u.problem FROM json_to_recordset(_keys) AS u(problem text)
    WHERE NOT EXISTS(SELECT FROM problem WHERE hash = u.problem) ORDER BY 1 ON CONFLICT DO NOTHING;
  INSERT INTO device(key, driver) SELECT DISTINCT u.device, u.driver
    FROM json_to_recordset(_keys) AS u(device text, driver text)
    WHERE NOT EXISTS(SELECT FROM device AS d WHERE d.key = u.device AND d.driver = u.driver) ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
  INSERT INTO key(problem, device, maker) SELECT DISTINCT p.id, d.id, session_user::text
    FROM json_to_recordset(_keys) AS u(problem text, device text, driver text)
    JOIN problem AS p ON p.hash = u.problem JOIN device AS d ON d.key = u.device AND d.driver = u.driver
    WHERE NOT EXISTS(SELECT FROM key WHERE problem = p.id AND device = d.id) ORDER BY 1, 2 ON CONFLICT DO NOTHING;
  PERFORM check_limits();
END $$;

-- Describes a key. NULL: unchanged. Texts are cut, and JSON that is longer than readers take is left out.
CREATE OR REPLACE FUNCTION clatune.describe(_problem text, _device text, _driver text, _name text, _path text,
  _sizes text, _kernel text, _description text, _tuning text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
BEGIN
  PERFORM add_keys(json_build_array(json_build_object('problem', _problem, 'device', _device, 'driver', _driver)));
  INSERT INTO described AS s(key, login, name, path, sizes, kernel, description, tuning)
    SELECT k.id, session_user, one_line(coalesce(_name, o.name, ''), 4096), one_line(coalesce(_path, o.path, ''), 4096),
      one_line(coalesce(_sizes, o.sizes, ''), 4096), left(coalesce(_kernel, o.kernel, ''), 64),
      coalesce(CASE WHEN octet_length(_description) <= 65536 THEN _description END, o.description, ''),
      coalesce(CASE WHEN octet_length(_tuning) <= 262144 THEN _tuning END, o.tuning, '')
    FROM key AS k JOIN problem AS p ON p.id = k.problem JOIN device AS d ON d.id = k.device
      LEFT JOIN described AS o ON o.key = k.id AND o.login = session_user
    WHERE p.hash = _problem AND d.key = _device AND d.driver = _driver
    ON CONFLICT (key, login) DO UPDATE SET name = excluded.name, path = excluded.path, sizes = excluded.sizes,
        kernel = excluded.kernel, description = excluded.description, tuning = excluded.tuning
      WHERE (s.name, s.path, s.sizes, s.kernel, s.description, s.tuning) <> (excluded.name, excluded.path, excluded.sizes,
        excluded.kernel, excluded.description, excluded.tuning);
  PERFORM check_limits();
END $$;

-- Adds records, and returns how many were new. Records that the store has or has revoked are skipped. Those of an origin
-- of another login get one of the caller's own instead: nobody can use up the numbers of others, or take part in their
-- comparisons. own: measured by the caller, whose voice it is even if others have merged it before, and were
-- revoked. None is from the future, except for a minute, whatever the agent's clock says: the last comparison decides.
-- Those of a claim must be of the device that the tuning is for.
CREATE OR REPLACE FUNCTION clatune.deliver(_records json, _agent text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
DECLARE
  deliverer bigint := agent_id(_agent);
  n bigint;
BEGIN
  IF EXISTS(SELECT FROM json_to_recordset(_records) AS u(origin text, number bigint)
      WHERE u.origin !~ '^([0-9a-f]{16})?$' OR u.number < 0) THEN
    RAISE EXCEPTION 'an origin has 16 hexadecimal digits, and numbers are not negative' USING ERRCODE = '22023';
  END IF;
  PERFORM add_keys(_records);
  INSERT INTO origin(name, login) SELECT DISTINCT u.origin, session_user FROM json_to_recordset(_records) AS u(origin text)
    WHERE NOT EXISTS(SELECT FROM origin WHERE name = u.origin) ORDER BY 1 ON CONFLICT DO NOTHING;
  WITH s AS (INSERT INTO substitute(login, origin) SELECT session_user, o.name FROM origin AS o
      WHERE o.name IN (SELECT u.origin FROM json_to_recordset(_records) AS u(origin text)) AND o.login <> session_user
        AND NOT EXISTS(SELECT FROM substitute AS s WHERE s.login = session_user AND s.origin = o.name)
      ORDER BY 2 ON CONFLICT DO NOTHING RETURNING name)
    INSERT INTO origin(name, login) SELECT name, session_user FROM s;
  WITH r AS ( -- without what files cannot say: it would not be found again in what returns from them
    SELECT u.*, least(u.created_s, floor(extract(epoch FROM clock_timestamp()))::bigint + 60) AS made_s, k.id AS of,
        CASE WHEN u.reason = 'none' AND u.energy_j > 0 THEN finite(u.energy_j) END AS joules,
        CASE WHEN u.reason = 'none' AND finite(u.figures[1]) IS NOT NULL THEN finite(u.figures) END AS scores,
        CASE WHEN o.login = session_user THEN u.origin ELSE s.name END AS known_as
      FROM json_to_recordset(_records) AS u(place bigint, problem text, device text, driver text, origin text,
        number bigint, kind text, configuration text, reason text, time_s float8, clock text, build_s float8,
        first_launch_s float8, runs_s float8, verify_s float8, wait_s float8, max_abs_error float8, log text,
        created_s bigint, runs float8[], energy_j float8, figures float8[], use float8[], confirmed bigint,
        comparison bigint, state float8[], own boolean)
      JOIN problem AS p ON p.hash = u.problem JOIN device AS d ON d.key = u.device AND d.driver = u.driver
      JOIN key AS k ON k.problem = p.id AND k.device = d.id JOIN origin AS o ON o.name = u.origin
      LEFT JOIN substitute AS s ON s.login = session_user AND s.origin = u.origin
      LEFT JOIN target AS t ON t.id = o.target AND o.login = session_user
      WHERE (t.id IS NULL OR (t.device = u.device AND t.driver = u.driver)) AND octet_length(configuration) <= 65536
        AND configuration !~ '[\U0010FE00-\U0010FE7F]'),
  a AS (
    INSERT INTO measurement(agent, key, origin, number, kind, configuration, reason, time_s, clock, build_s,
        first_launch_s, runs_s, verify_s, wait_s, max_abs_error, log, created_s, runs, energy_J, figures, use, confirmed,
        comparison, state)
      -- Only what readers can take: texts and arrays are short.
      SELECT deliverer, r.of, known_as, number, left(kind, 64), configuration, left(reason, 64),
        finite(time_s), left(clock, 64), finite(build_s), finite(first_launch_s), finite(runs_s), finite(verify_s),
        finite(wait_s), nullif(max_abs_error, 'NaN'), left(log, 16384), made_s, finite(runs), joules, scores, finite(use),
        confirmed, comparison, finite(state)
        FROM r
      WHERE NOT EXISTS (SELECT FROM revoked AS g WHERE g.origin = r.known_as AND g.number = r.number)
        AND (known_as = origin OR own OR NOT EXISTS (SELECT FROM
            (SELECT origin, number, key, kind, configuration, reason, time_s, created_s, energy_j, figures, comparison
               FROM measurement UNION ALL
             SELECT origin, number, key, kind, configuration, reason, time_s, created_s, energy_j, figures, comparison
               FROM revoked) AS m
          WHERE m.origin = r.origin AND m.number = r.number AND m.key = r.of AND m.kind = r.kind
            AND m.configuration = r.configuration AND r.reason IN (m.reason, 'unknown') AND m.time_s IS NOT DISTINCT FROM r.time_s
            AND m.created_s = r.made_s AND m.energy_j IS NOT DISTINCT FROM r.joules
            AND m.figures[1] IS NOT DISTINCT FROM r.scores[1] AND m.comparison = r.comparison))
      ORDER BY place ON CONFLICT (origin, number) DO NOTHING RETURNING 1)
  SELECT count(*) INTO n FROM a;
  IF n < json_array_length(_records) THEN
    UPDATE origin AS o SET disputed = true
      FROM json_to_recordset(_records) AS u(origin text, number bigint, configuration text, time_s float8), measurement AS m
      WHERE o.name = u.origin AND o.login = session_user AND o.target IS NOT NULL AND NOT o.disputed
        AND m.origin = u.origin AND m.number = u.number AND (m.configuration <> u.configuration
          OR m.time_s IS DISTINCT FROM finite(u.time_s));
  END IF;
  RETURN n;
END $$;

-- Notes that a file was received up to one of its records. before NULL: the file is not known yet. False: the state is
-- another one, or already known.
CREATE OR REPLACE FUNCTION clatune.ship(_file text, _upto bigint, _before bigint) RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, clatune, pg_temp AS $$
BEGIN
  IF _before IS NULL THEN
    INSERT INTO shipper(login, file, upto) VALUES (session_user, _file, _upto) ON CONFLICT DO NOTHING;
  ELSE
    UPDATE shipper SET upto = _upto WHERE login = session_user AND file = _file AND upto = _before;
  END IF;
  RETURN FOUND;
END $$;

-- --- functions for workers: plans and their tunings ---

-- Adds a plan unless there is one with the same text. again, if not NULL, reopens its failed tunings, and those it lists
-- that are done; their results stay. No row: another agent added it after this statement began.
CREATE OR REPLACE FUNCTION clatune.submit(_name text, _text text, _lease_s float8, _again json,
  OUT id bigint, OUT submitted_s bigint) RETURNS SETOF record LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
BEGIN
  IF octet_length(_text) > 16777216 THEN
    RAISE EXCEPTION 'a plan can have 16 MiB at most; split it' USING ERRCODE = '54000';
  END IF;
  IF NOT _lease_s BETWEEN 1 AND 86400 THEN
    RAISE EXCEPTION 'a lease has 1 to 86400 seconds' USING ERRCODE = '22023';
  END IF;
  IF NOT EXISTS (SELECT FROM plan WHERE hash = md5(_text)) THEN
    PERFORM take_turn();
    IF (SELECT count(*) FROM plan WHERE maker = session_user) >= 10000 THEN
      RAISE EXCEPTION '% has submitted 10000 plans, and cannot add more', session_user USING ERRCODE = '54000';
    END IF;
  END IF;
  INSERT INTO plan AS p(name, text, lease_s, maker) SELECT one_line(_name, 200), _text, _lease_s, session_user WHERE NOT EXISTS
    (SELECT FROM plan AS p WHERE p.hash = md5(_text)) ON CONFLICT DO NOTHING;
  IF _again IS NOT NULL THEN
    -- Nobody takes others' claims by a lease that is too short for them, not even who submitted the text first.
    -- A plan of two logins is nobody's, so that one's other plans do not hide it.
    UPDATE plan SET withdrawn = false, lease_s = greatest(_lease_s, least(lease_s, 600)),
      maker = CASE maker WHEN session_user THEN maker ELSE '' END WHERE hash = md5(_text);
    UPDATE cell SET state = 'open', attempts = 0, best = -1, lease = NULL, output = NULL FROM target AS t, plan AS p
      WHERE p.hash = md5(_text) AND t.plan = p.id AND cell.target = t.id
        AND (cell.state = 'failed' OR (cell.state = 'done' AND (cell.target, cell.n) IN
          (SELECT u.target, u.n FROM json_to_recordset(_again) AS u(target bigint, n bigint))));
  END IF;
  RETURN QUERY SELECT p.id, floor(extract(epoch FROM p.submitted))::bigint FROM plan AS p WHERE p.hash = md5(_text);
END $$;

-- The plan's target for a device, which is created, and how many of its tunings exist; no row: the plan was deleted.
CREATE OR REPLACE FUNCTION clatune.join_plan(_plan bigint, _device text, _driver text, _name text, _n_cells bigint,
  OUT id bigint, OUT n bigint) RETURNS SETOF record LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM target AS t WHERE t.plan = _plan AND t.device = _device AND t.driver = _driver) THEN
    PERFORM take_turn();
    IF (SELECT count(*) FROM target AS t WHERE t.plan = _plan AND t.maker = session_user) >= 100 THEN
      RAISE EXCEPTION '% has added 100 kinds of devices to the plan, and cannot add more', session_user
        USING ERRCODE = '54000';
    END IF;
    INSERT INTO target(plan, device, driver, name, maker) SELECT p.id, left(_device, 1024), left(_driver, 1024),
      one_line(_name, 200), session_user FROM plan AS p WHERE p.id = _plan ON CONFLICT DO NOTHING;
  END IF;
  RETURN QUERY SELECT t.id, (SELECT count(*) FROM cell AS c WHERE c.target = t.id AND c.n >= 0 AND c.n < _n_cells)
    FROM target AS t WHERE t.plan = _plan AND t.device = _device AND t.driver = _driver;
END $$;

-- Adds tunings _first, _first + 1, ... of a target, as far as the plan has them.
CREATE OR REPLACE FUNCTION clatune.add_cells(_target bigint, _first bigint, _texts json) RETURNS void LANGUAGE sql
SECURITY DEFINER SET search_path = pg_catalog, clatune, pg_temp AS $$
  INSERT INTO cell(target, n, text, state, output) SELECT t.id, _first + i - 1, left(u.text, 4096),
      CASE WHEN p.withdrawn THEN 'failed' ELSE 'open' END, CASE WHEN p.withdrawn THEN 'withdrawn' END
    FROM target AS t JOIN plan AS p ON p.id = t.plan,
      json_array_elements_text(_texts) WITH ORDINALITY AS u(text, i)
    WHERE t.id = _target AND _first >= 0 AND _first + i <= p.n_cells
    FOR SHARE OF p -- a plan that is being withdrawn waits, or is waited for
  ON CONFLICT DO NOTHING $$;

-- Claims a tuning of one of the targets. A repeated call gives the same one. If a call with the same claim is still
-- running in a lost connection, both may take a row: claims are unique, so the later one fails.
CREATE OR REPLACE FUNCTION clatune.claim(_claim text, _agent text, _targets json, OUT target bigint, OUT n bigint,
  OUT lease_s float8, OUT now_s float8, OUT origin text) RETURNS SETOF record LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
#variable_conflict use_column
BEGIN
  IF length(_claim) < 32 THEN RAISE EXCEPTION 'a claim needs 32 hexadecimal digits' USING ERRCODE = '22023'; END IF;
  PERFORM agent_id(_agent);
  RETURN QUERY
    WITH c AS MATERIALIZED (SELECT o.target, o.n, p.lease_s FROM target AS t JOIN plan AS p ON p.id = t.plan CROSS JOIN LATERAL
        (SELECT cell.target, cell.n FROM cell WHERE cell.target = t.id AND cell.state IN ('open', 'running') AND
           ((cell.state = 'open' AND ((cell.login, cell.agent) IS DISTINCT FROM (session_user::text, _agent)
                                      OR cell.lease IS NULL OR cell.lease < clock_timestamp()))
            OR (cell.state = 'running' AND lease_end(cell.lease, cell.lease_s) < clock_timestamp()
                AND NOT is_used_up(cell)))
         ORDER BY cell.n LIMIT 1 FOR UPDATE SKIP LOCKED) AS o
      WHERE t.id = ANY(ARRAY(SELECT value::bigint FROM json_array_elements_text(_targets)))
        AND NOT EXISTS (SELECT FROM cell WHERE claim = _claim) LIMIT 1),
    taken AS (UPDATE cell SET state = 'running', claim = _claim, agent = one_line(_agent, 200), login = session_user,
        began = clock_timestamp(),
        attempts = CASE cell.state WHEN 'running' THEN deaths(cell.attempts, cell.best, cell.progress)
                   ELSE cell.attempts END,
        best = CASE cell.state WHEN 'running' THEN greatest(cell.best, cell.progress) ELSE cell.best END,
        progress = 0, lease = clock_timestamp() + make_interval(secs => c.lease_s), lease_s = c.lease_s
      FROM c WHERE cell.target = c.target AND cell.n = c.n RETURNING cell.target, cell.n, cell.lease_s),
    noted AS (INSERT INTO origin(name, login, target, n) SELECT origin_of(_claim), session_user, taken.target, taken.n
      FROM taken ON CONFLICT DO NOTHING),
    s AS (SELECT * FROM taken UNION ALL SELECT cell.target, cell.n, cell.lease_s FROM cell
      WHERE claim = _claim AND state = 'running' AND login = session_user)
    SELECT s.*, extract(epoch FROM clock_timestamp())::float8, origin_of(_claim) FROM s;
END $$;

-- Renews leases; returns the claims that still hold their rows.
CREATE OR REPLACE FUNCTION clatune.renew(_claims json) RETURNS SETOF text LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
  UPDATE cell SET lease = clock_timestamp() + make_interval(secs => lease_s), progress = u.progress,
      output = left(u.output, 4096)
    FROM json_to_recordset(_claims) AS u(target bigint, n bigint, claim text, progress bigint, output text)
    WHERE cell.target = u.target AND cell.n = u.n AND cell.claim = u.claim
      AND cell.login = session_user AND cell.state = 'running' RETURNING cell.claim $$;

CREATE OR REPLACE FUNCTION clatune.give_back(_claims json) RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
  UPDATE cell SET state = 'open', lease = NULL
    FROM json_to_recordset(_claims) AS u(target bigint, n bigint, claim text)
    WHERE cell.target = u.target AND cell.n = u.n AND cell.claim = u.claim
      AND cell.login = session_user AND cell.state = 'running' $$;

-- Finishes a tuning: 'done'; 'lost', if another agent has it; 'incomplete', if fewer than n_made measurements of the
-- claim were received, or others instead; 'unfounded', if the store lacks the correct measurement on the target's device that the result
-- rests on: _best, which says what was measured ({}: nothing was correct). Whether the line says the same, of the plan's
-- tuning, is for readers to check, who have the plan (farm/status.c). A second call finds what the first one did.
CREATE OR REPLACE FUNCTION clatune.finish(_target bigint, _n bigint, _claim text, _line text, _n_made bigint, _best json)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, clatune, pg_temp AS $$
DECLARE
  held cell; base record;
BEGIN
  SELECT * INTO held FROM cell
    WHERE target = _target AND n = _n AND claim = _claim AND login = session_user FOR UPDATE;
  IF held.state = 'done' THEN RETURN 'done'; END IF;
  IF held.state IS DISTINCT FROM 'running' THEN RETURN 'lost'; END IF;
  IF _n_made > (SELECT count(*) FROM measurement WHERE origin = origin_of(_claim))
             + (SELECT count(*) FROM revoked WHERE origin = origin_of(_claim))
    OR (SELECT disputed FROM origin WHERE name = origin_of(_claim)) THEN RETURN 'incomplete'; END IF;
  SELECT r.origin, r.number INTO base
    FROM json_to_record(_best) AS b(problem text, configuration text, time_s float8, energy_j float8, figure float8)
    JOIN target AS t ON t.id = _target JOIN device AS d ON d.key = t.device AND d.driver = t.driver
    JOIN problem AS p ON p.hash = b.problem JOIN key AS k ON k.problem = p.id AND k.device = d.id
    CROSS JOIN LATERAL (SELECT * FROM measurement AS m WHERE m.origin = origin_of(_claim) AND m.key = k.id
      UNION ALL SELECT * FROM measurement AS m WHERE m.key = k.id AND m.kind = 'search' AND m.reason = 'none'
        AND coalesce(m.time_s, 0) = coalesce(b.time_s, 0)
      UNION ALL SELECT * FROM measurement AS m WHERE m.key = k.id AND m.kind = 'finalist') AS r
    WHERE r.reason = 'none' AND r.kind IN ('search', 'finalist') AND r.configuration = b.configuration
      AND r.time_s IS NOT DISTINCT FROM b.time_s AND r.energy_j IS NOT DISTINCT FROM b.energy_j
      AND r.figures[1] IS NOT DISTINCT FROM b.figure LIMIT 1;
  IF base IS NULL AND coalesce(_best->>'configuration', _line::json->>'configuration') IS NOT NULL THEN
    RETURN 'unfounded';
  END IF;
  UPDATE cell SET state = 'done', finished = clock_timestamp() WHERE target = _target AND n = _n;
  DELETE FROM result WHERE target = _target AND n = _n AND login = session_user
    AND id > (SELECT min(id) FROM result WHERE target = _target AND n = _n AND login = session_user);
  INSERT INTO result(target, n, login, agent, line, best_origin, best_number)
    VALUES (_target, _n, session_user, held.agent, _line, base.origin, base.number);
  RETURN 'done';
END $$;

CREATE OR REPLACE FUNCTION clatune.fail(_target bigint, _n bigint, _claim text, _output text, _code bigint,
  _for_good boolean) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, clatune, pg_temp AS $$
  UPDATE cell SET state = CASE WHEN _for_good OR attempts + 1 >= 3 THEN 'failed' ELSE 'open' END,
      attempts = least(attempts + 1, 100), output = left(_output, 4096), code = _code, finished = clock_timestamp(),
      lease = clock_timestamp() + make_interval(secs => least(lease_s, 10))
    WHERE cell.target = _target AND cell.n = _n AND cell.claim = _claim
      AND cell.login = session_user AND cell.state = 'running' $$;

-- Fails tunings whose last attempt's lease expired, except those that an open transaction holds.
CREATE OR REPLACE FUNCTION clatune.expire() RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
  UPDATE cell SET state = 'failed', attempts = deaths(attempts, best, progress), finished = clock_timestamp(),
      output = concat('ended without a report, ', deaths(attempts, best, progress), ' times', ': ' || nullif(output, ''))
    WHERE (target, n) IN (SELECT target, n FROM cell WHERE state = 'running'
      AND lease_end(lease, lease_s) < clock_timestamp() AND is_used_up(cell) FOR UPDATE SKIP LOCKED) $$;

-- Fails tunings that the plan does not have.
CREATE OR REPLACE FUNCTION clatune.reject(_plan bigint) RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
  UPDATE cell SET state = 'failed', output = 'the plan has no such tuning', finished = clock_timestamp()
    FROM target AS t, plan AS p WHERE p.id = _plan AND t.plan = _plan AND cell.target = t.id
      AND (cell.n < 0 OR cell.n >= p.n_cells) AND cell.state IN ('open', 'running') $$;

CREATE OR REPLACE FUNCTION clatune.greet(_name text, _devices text, _lost text, _described json) RETURNS void LANGUAGE sql
SECURITY DEFINER SET search_path = pg_catalog, clatune, pg_temp AS $$
  INSERT INTO agent AS a(login, name, devices, lost, described, seen)
    SELECT session_user, one_line(_name, 200), one_line(_devices, 4096), one_line(_lost, 4096),
      CASE WHEN json_typeof(_described) = 'array' AND octet_length(_described::text) <= 1048576 THEN _described ELSE '[]' END,
      clock_timestamp() -- of a login no more than these are listed at once (farm/queue.c)
    WHERE (SELECT count(*) FROM (SELECT FROM agent WHERE login = session_user
        AND seen > clock_timestamp() - interval '1 minute' LIMIT 1000) AS o) < 1000
      OR EXISTS (SELECT FROM agent WHERE login = session_user AND name = one_line(_name, 200)
        AND seen > clock_timestamp() - interval '1 minute')
    ON CONFLICT (login, name) DO UPDATE SET devices = excluded.devices, lost = excluded.lost, seen = excluded.seen,
      described = CASE a.described::text WHEN excluded.described::text THEN a.described ELSE excluded.described END $$;

CREATE OR REPLACE FUNCTION clatune.leave(_name text) RETURNS void LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, clatune, pg_temp AS $$
  UPDATE agent SET seen = 'epoch' WHERE login = session_user AND name = one_line(_name, 200) $$;

-- --- the owner ---

-- Sets measurements apart, and forgets what a login has described of which none is left, the results of these agents, and
-- those that rested on the measurements; fails and returns the tunings that then have no result. Nobody's open transaction
-- adds any after it.
CREATE OR REPLACE FUNCTION clatune.revoke(_who text, _since timestamptz, OUT n bigint, OUT plan text, OUT device text,
  OUT tuning text, OUT whose text) RETURNS SETOF record LANGUAGE plpgsql SET search_path = pg_catalog, clatune, pg_temp AS $$
#variable_conflict use_column
DECLARE
  moved bigint;
  them bigint[];
BEGIN
  LOCK TABLE measurement, cell, result IN SHARE ROW EXCLUSIVE MODE;
  them := ARRAY(SELECT id FROM agent WHERE login = _who); -- whatever others call their agents
  IF them = '{}' THEN them := ARRAY(SELECT id FROM agent WHERE _who IN (login || '/' || name, login || '/' || host)); END IF;
  IF them = '{}' THEN them := ARRAY(SELECT id FROM agent AS a WHERE is_of(a, _who)); END IF;
  IF (SELECT count(DISTINCT login) FROM agent WHERE id = ANY(them)) > 1 THEN -- anyone can call an agent anything
    RAISE EXCEPTION 'agents of several logins are called ''%''; write LOGIN/%', _who, _who USING ERRCODE = '22023';
  END IF;
  DELETE FROM revoked AS g USING measurement AS m WHERE m.origin = g.origin AND m.number = g.number -- it has come back
    AND m.agent = ANY(them) AND (_since IS NULL OR m.received >= _since);
  WITH gone AS (DELETE FROM measurement AS m WHERE m.agent = ANY(them)
      AND (_since IS NULL OR m.received >= _since) RETURNING m.*)
    INSERT INTO revoked SELECT * FROM gone;
  GET DIAGNOSTICS moved = ROW_COUNT;
  DELETE FROM described AS s WHERE login IN (SELECT login FROM agent WHERE id = ANY(them)) AND NOT EXISTS
    (SELECT FROM measurement AS m JOIN agent AS a ON a.id = m.agent WHERE m.key = s.key AND a.login = s.login);
  DELETE FROM result AS r WHERE EXISTS (SELECT FROM revoked AS g WHERE g.origin = r.best_origin
      AND g.number = r.best_number)
    OR EXISTS (SELECT FROM agent AS a WHERE a.login = r.login AND a.name = r.agent AND a.id = ANY(them)
      AND (_since IS NULL OR r.finished >= _since));
  RETURN QUERY WITH c AS (UPDATE cell AS c SET state = 'failed', output = 'its result was revoked', code = NULL
      WHERE c.state = 'done' AND NOT EXISTS (SELECT FROM result AS r WHERE r.target = c.target AND r.n = c.n)
      RETURNING c.*)
    SELECT moved, p.name, t.name, c.text, concat(c.login, ' ', c.agent)
    FROM c JOIN target AS t ON t.id = c.target JOIN plan AS p ON p.id = t.plan
    UNION ALL SELECT moved, NULL, NULL, NULL, NULL ORDER BY 2 NULLS FIRST, 3, 4;
END $$;

-- --- rights ---

REVOKE ALL ON ALL TABLES IN SCHEMA clatune FROM PUBLIC, clatune_reader, clatune_worker;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA clatune FROM PUBLIC;
GRANT USAGE ON SCHEMA clatune TO clatune_reader, clatune_worker, clatune_owner;
GRANT SELECT ON clatune.about, clatune.problem, clatune.device, clatune.key, clatune.described, clatune.measurement,
  clatune.agent, clatune.plan, clatune.target, clatune.result, clatune.origin, clatune.substitute, clatune.shipper
  TO clatune_reader, clatune_worker;
GRANT SELECT (origin, number, gone, agent, received) ON clatune.revoked TO clatune_reader, clatune_worker;
GRANT SELECT (target, n, text, state, agent, login, lease, lease_s, began, finished, progress, attempts, best, output, code)
  ON clatune.cell TO clatune_reader, clatune_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA clatune TO clatune_owner;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA clatune TO clatune_owner;
GRANT EXECUTE ON FUNCTION clatune.lease_end, clatune.is_of, clatune.cut, clatune.names TO clatune_reader, clatune_worker;
GRANT EXECUTE ON FUNCTION clatune.describe, clatune.deliver, clatune.ship, clatune.submit, clatune.join_plan,
  clatune.add_cells, clatune.claim, clatune.renew, clatune.give_back, clatune.finish, clatune.fail, clatune.expire,
  clatune.reject, clatune.greet, clatune.leave TO clatune_worker;

-- A session that has set its role keeps its rights when they are taken from the login. An old snapshot does not show what
-- was revoked meanwhile.
CREATE OR REPLACE FUNCTION clatune.check_role() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'a transaction that changes the store must see what others have changed: '
      'begin it with isolation level read committed' USING ERRCODE = '25001';
  END IF;
  IF pg_has_role(session_user, 'clatune_worker', 'MEMBER') OR pg_has_role(session_user, 'clatune_owner', 'MEMBER')
    OR pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'MEMBER') THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'permission denied: % is no longer a member of clatune_worker', session_user USING ERRCODE = '42501';
END $$;
DO $$ DECLARE name text; BEGIN
  FOREACH name IN ARRAY '{measurement,described,key,origin,agent,plan,target,cell,result,shipper}'::text[] LOOP
    EXECUTE format('DROP TRIGGER IF EXISTS checks_role ON clatune.%I', name);
    EXECUTE format('CREATE TRIGGER checks_role BEFORE INSERT OR UPDATE OR DELETE ON clatune.%I FOR EACH STATEMENT '
      'EXECUTE FUNCTION clatune.check_role()', name);
  END LOOP;
END $$;

-- How far a file was received is for the login that it belongs to. The owner of the tables sees all rows.
ALTER TABLE clatune.shipper ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS shipper_own ON clatune.shipper;
CREATE POLICY shipper_own ON clatune.shipper FOR SELECT USING (login = session_user);
DROP POLICY IF EXISTS shipper_all ON clatune.shipper;
CREATE POLICY shipper_all ON clatune.shipper TO clatune_owner USING (true);
DROP POLICY IF EXISTS cell_read ON clatune.cell;
DROP POLICY IF EXISTS cell_add ON clatune.cell;
DROP POLICY IF EXISTS cell_work ON clatune.cell;
DROP POLICY IF EXISTS cell_own ON clatune.cell;
ALTER TABLE clatune.cell DISABLE ROW LEVEL SECURITY;
