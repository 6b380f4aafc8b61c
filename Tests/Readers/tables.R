# Reads exported tables (CSV, by base R) and databases (SQLite, by RSQLite) as the pages Exporting and QueryingTheDatabase say,
# and writes what it has read as numbers of 64 bits: Rscript tables.R DIRECTORY FILE [FILE ...].
#
# DIRECTORY gets, of each table or stream, NAME.rows: rows, columns, n, seconds since 1970, then the channels one after the
# other; and of a database NAME.gaps.csv and NAME.events.csv.

arguments <- commandArgs(trailingOnly = TRUE)
directory <- arguments[1]

write_rows <- function(name, n, seconds, channels) {
  values <- unlist(lapply(channels, as.numeric), use.names = FALSE)
  connection <- file(file.path(directory, paste0(name, ".rows")), "wb")
  writeBin(c(length(n), length(channels), as.numeric(n), as.numeric(seconds), values), connection)
  close(connection)
}

read_table <- function(file, name) {
  frame <- read.csv(file, check.names = FALSE)
  frame$time <- as.POSIXct(frame$time, format = "%Y-%m-%dT%H:%M:%OSZ", tz = "UTC")
  write_rows(name, frame$n, frame$time, frame[-(1:2)])
}

read_database <- function(file, name) {
  suppressPackageStartupMessages(library(DBI))
  database <- dbConnect(RSQLite::SQLite(), file, flags = RSQLite::SQLITE_RO, bigint = "integer64")
  streams <- dbGetQuery(database, "SELECT DISTINCT stream, view_name FROM stream_overview")
  for (i in seq_len(nrow(streams))) {
    stream <- streams$stream[i]
    frame <- dbGetQuery(database, sprintf('SELECT unix_ns / 1e9 AS seconds, * FROM "%s" ORDER BY n', streams$view_name[i]))
    write_rows(paste0(name, "-", stream), frame$n, frame$seconds, frame[-(1:4)])
    gaps <- dbGetQuery(database, "SELECT first_n, count, channel_name FROM gap_time WHERE stream = ?", params = list(stream))
    write.csv(gaps, file.path(directory, paste0(name, "-", stream, ".gaps.csv")), row.names = FALSE, na = "")
  }
  events <- dbGetQuery(database, "SELECT CAST(onset_unix_ns AS TEXT) AS onset, n, description FROM annotation_time")
  write.csv(events, file.path(directory, paste0(name, ".events.csv")), row.names = FALSE, na = "", fileEncoding = "UTF-8")
  dbDisconnect(database)
}

for (file in arguments[-1]) {
  name <- sub("[.][a-z]*$", "", basename(file))
  if (grepl("[.]csv$", file)) read_table(file, name) else read_database(file, name)
}
