/* store/statements.h - the SQL of sqlite.c, as rows of a name and a text. */
#ifndef CLT_STORE_STATEMENTS_H
#define CLT_STORE_STATEMENTS_H

#define OF_PROBLEM "(SELECT id FROM problem WHERE hash=?1)"
#define OF_DEVICE "(SELECT id FROM device WHERE key=?2 AND driver=?3)"
#define OF_KEY "problem=" OF_PROBLEM " AND device=" OF_DEVICE
#define SELECTED OF_KEY " AND (?4=0 OR created_s<?4)"
#define RECORDS_WITH(columns)                                                                                   \
  "SELECT k.id, kind, configuration, reason, time_s, clock, build_s, first_launch_s, runs_s, verify_s, wait_s," \
  " max_abs_error, substr(log, 1, 16384), created_s" columns " FROM measurement AS k"

#define RECORDS_OF_KEY RECORDS_WITH("") " WHERE " OF_KEY

#define OF_SELECTED " WHERE measurement IN (SELECT id FROM measurement WHERE " SELECTED ")"

#define KEY_COLUMNS ", p.hash, d.key, d.driver, p.name, p.path, p.sizes, d.description, t.json, x.hash"
#define KEY_JOINS                                                                      \
  " CROSS JOIN problem AS p ON p.id=k.problem CROSS JOIN device AS d ON d.id=k.device" \
  " LEFT JOIN tuning AS t ON t.problem=k.problem AND t.device=k.device LEFT JOIN kernel AS x ON x.problem=k.problem"

/* All keys of the problem ?1 (NULL: of all problems), sorted by their first record; with record counts if ?2. Steps
 * from device to device in the index, so the time grows with the number of keys, not of records. UNION prevents an
 * endless loop in a damaged index. */
#define A_DEVICE(where, order) \
  "(SELECT device FROM measurement WHERE " where " ORDER BY device" order ", id" order " LIMIT 1)"
#define KEYS_OF_PROBLEMS \
  "WITH RECURSIVE k(problem, device, last) AS (SELECT id, " A_DEVICE("problem=p.id", "") \
  ", " A_DEVICE("problem=p.id", " DESC") \
  " FROM problem AS p WHERE hash BETWEEN ifnull(?1, '') AND ifnull(?1, x'') UNION SELECT problem, " \
  A_DEVICE("problem=k.problem AND device>k.device", "") ", last FROM k WHERE device<last) " \
  "SELECT CASE WHEN ?2 THEN (SELECT count(*) FROM measurement WHERE problem=k.problem AND device=k.device)" \
  " ELSE 0 END" KEY_COLUMNS \
  " FROM (SELECT problem, device, (SELECT id FROM measurement WHERE problem=k.problem AND device=k.device" \
  " ORDER BY id LIMIT 1) AS first FROM k ORDER BY first LIMIT -1) AS k" KEY_JOINS

/* The origin of a record that was added here, by its number. */
#define SPAN_OF(number) "(SELECT origin FROM span WHERE first<=" number " ORDER BY first DESC LIMIT 1)"

/* A whole key is ?1 ?2 ?3. */
#define STATEMENTS(ROW)                                                                                              \
  ROW(ADD_PROBLEM, "INSERT INTO problem(hash) VALUES(?1) ON CONFLICT DO NOTHING")                                    \
  ROW(ADD_DEVICE, "INSERT INTO device(key, driver) VALUES(?1, ?2) ON CONFLICT DO NOTHING")                           \
  ROW(DESCRIBE_PROBLEM,                                                                                              \
      "UPDATE problem SET name=ifnull(?2, name), path=ifnull(?3, path), sizes=ifnull(?4, sizes) WHERE hash=?1")      \
  ROW(DESCRIBE_DEVICE, "UPDATE device SET description=ifnull(?3, description) WHERE key=?1 AND driver=?2")           \
  ROW(ADD_MEASUREMENT,                                                                                               \
      "INSERT INTO measurement(id, problem, device, kind, configuration, reason, time_s, clock, build_s,"            \
      " first_launch_s, runs_s, verify_s, wait_s, max_abs_error, log, created_s)"                                    \
      " VALUES((SELECT 1+max(highest, ifnull((SELECT max(id) FROM measurement), 0)) FROM file), " OF_PROBLEM         \
      ", " OF_DEVICE ", ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)")                                 \
  ROW(ADD_RUN, "INSERT INTO run(measurement, position, time_s) VALUES(?1, ?2, ?3)")                                  \
  ROW(OLDEST_FIRST, RECORDS_OF_KEY " AND id>?4 ORDER BY id")                                                         \
  ROW(NEWEST_FIRST, RECORDS_OF_KEY " AND id>?4 ORDER BY id DESC")                                                    \
  ROW(FINALISTS, RECORDS_OF_KEY " AND kind='finalist' ORDER BY id DESC")                                             \
  ROW(FASTEST, RECORDS_OF_KEY " AND kind='search' AND reason='none' ORDER BY time_s, id")                            \
  ROW(RUNS, "SELECT time_s FROM run WHERE measurement=?1 ORDER BY position")                                         \
  ROW(KEYS, KEYS_OF_PROBLEMS)                                                                                        \
  ROW(BY_NUMBER_OF_KEY, RECORDS_OF_KEY " AND id>?4 ORDER BY id")                                                     \
  ROW(BY_NUMBER, RECORDS_WITH(KEY_COLUMNS) KEY_JOINS " WHERE k.id>?4 ORDER BY k.id")                                 \
  ROW(WITHOUT_IDENTITY, RECORDS_OF_KEY                                                                               \
      " AND id<ifnull((SELECT min(first) FROM span), id+1) AND NOT EXISTS"                                           \
      "(SELECT 1 FROM identity WHERE measurement=id) ORDER BY id")                                                   \
  ROW(IDENTITY,                                                                                                      \
      "SELECT o.name, i.number, i.own FROM (SELECT origin, number, 0 AS own FROM identity WHERE measurement=?1"      \
      " UNION ALL SELECT " SPAN_OF("?1") ", ?1, 1) AS i JOIN origin AS o ON o.id=i.origin ORDER BY i.own LIMIT 1")   \
  ROW(IS_THERE, "SELECT EXISTS(SELECT 1 FROM origin AS o WHERE o.name=?1 AND (EXISTS(" \
      "SELECT 1 FROM identity WHERE origin=o.id AND number=?2) OR (o.id=" SPAN_OF("?2") \
      " AND EXISTS(SELECT 1 FROM measurement WHERE id=?2)" \
      " AND NOT EXISTS(SELECT 1 FROM identity WHERE measurement=?2))))")                             \
  ROW(IS_LAST_SPAN, "SELECT EXISTS(SELECT 1 FROM origin WHERE name=?1 AND id=" SPAN_OF("9223372036854775807") ")")   \
  ROW(ADD_SPAN, "INSERT OR REPLACE INTO span(first, origin) SELECT ?1, id FROM origin WHERE name=?2")                \
  ROW(ADD_ORIGIN, "INSERT INTO origin(name) VALUES(?1) ON CONFLICT DO NOTHING")                                      \
  ROW(ADD_IDENTITY, "INSERT INTO identity(measurement, origin, number) SELECT ?1, id, ?3 FROM origin WHERE name=?2") \
  ROW(REMOVE_IDENTITY, "DELETE FROM identity" OF_SELECTED)                                                           \
  ROW(REMEMBER_HIGHEST, "UPDATE file SET highest=max(highest, ifnull((SELECT max(id) FROM measurement), 0))")        \
  ROW(FILE_ID, "SELECT id FROM file")                                                                                \
  ROW(VERSION, "PRAGMA data_version")                                                                                \
  ROW(COUNT, "SELECT count(*) FROM measurement WHERE " SELECTED)                                                     \
  ROW(REMOVE_RUNS, "DELETE FROM run" OF_SELECTED)                                                                    \
  ROW(REMOVE, "DELETE FROM measurement WHERE " SELECTED)                                                             \
  ROW(ADD_ENERGY, "INSERT INTO energy(measurement, energy_J) VALUES(?1, ?2)")                                        \
  ROW(ADD_FIGURE, "INSERT INTO figure(measurement, position, figure) VALUES(?1, ?2, ?3)")                            \
  ROW(ADD_USE, "INSERT INTO use(measurement, position, use) VALUES(?1, ?2, ?3)")                                     \
  ROW(ADD_CONFIRMED, "INSERT INTO confirmed(measurement, alone) VALUES(?1, ?2)")                                     \
  ROW(PRESENT,                                                                                                       \
      "SELECT EXISTS(SELECT 1 FROM energy) + 2 * EXISTS(SELECT 1 FROM figure)"                                       \
      " + 4 * EXISTS(SELECT 1 FROM use) + 8 * EXISTS(SELECT 1 FROM confirmed) + 16 * EXISTS(SELECT 1 FROM origin)")  \
  ROW(ENERGY, "SELECT energy_J FROM energy WHERE measurement=?1")                                                    \
  ROW(FIGURE, "SELECT figure FROM figure WHERE measurement=?1 ORDER BY position")                                    \
  ROW(USE, "SELECT use FROM use WHERE measurement=?1 ORDER BY position")                                             \
  ROW(CONFIRMED, "SELECT alone FROM confirmed WHERE measurement=?1")                                                 \
  ROW(REMOVE_ENERGY, "DELETE FROM energy" OF_SELECTED)                                                               \
  ROW(REMOVE_FIGURE, "DELETE FROM figure" OF_SELECTED)                                                               \
  ROW(REMOVE_USE, "DELETE FROM use" OF_SELECTED)                                                                     \
  ROW(REMOVE_CONFIRMED, "DELETE FROM confirmed" OF_SELECTED)                                                         \
  ROW(DESCRIBE_TUNING,                                                                                               \
      "INSERT OR REPLACE INTO tuning(problem, device, json) VALUES(" OF_PROBLEM ", " OF_DEVICE ", ?4)")              \
  ROW(DESCRIBE_KERNEL, "INSERT OR REPLACE INTO kernel(problem, hash) VALUES(" OF_PROBLEM ", ?2)")

#endif
