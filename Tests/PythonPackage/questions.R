# Asks each question of a directory (1.sql, 2.sql, ...) as the page QueryingTheDatabase says, and writes the answers as tables
# of text (1.csv, ...): Rscript questions.R PAGE-SNIPPET DIRECTORY. The snippet connects as `database`. Prints seconds by number.

arguments <- commandArgs(trailingOnly = TRUE)
source(arguments[1])
for (file in list.files(arguments[2], "[.]sql$")) {
  query <- paste(readLines(file.path(arguments[2], file)), collapse = "\n")
  began <- proc.time()[["elapsed"]]
  answer <- dbGetQuery(database, query)
  cat(sub("[.]sql$", "", file), proc.time()[["elapsed"]] - began, "\n")
  text <- lapply(answer, function(column) if (is.numeric(column) && !inherits(column, "integer64")) {
    ifelse(is.na(column), NA, formatC(column, digits = 17, width = 1, format = "g"))
  } else as.character(column))
  write.csv(as.data.frame(text, check.names = FALSE), file.path(arguments[2], sub("sql$", "csv", file)), row.names = FALSE, na = "")
}
