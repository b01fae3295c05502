# Tables as people have them, from Debian's r-cran-ggplot2, -modeldata, -kernlab, -mlbench and -aer, as CSV files
# in the folder named; a package that is missing is left out.
#     Rscript bench/tables.R FOLDER
folder <- commandArgs(TRUE)[1]
keep <- function(d, name) write.csv(d, file.path(folder, paste0(name, ".csv")), row.names = FALSE, quote = FALSE)
with_package <- function(package, body)
  if (requireNamespace(package, quietly = TRUE)) body() else message("left out: ", package)
data_of <- function(name, package) {
  e <- new.env()
  utils::data(list = name, package = package, envir = e)
  as.data.frame(get(name, e))
}
with_package("ggplot2", function() {
  d <- as.data.frame(ggplot2::diamonds)
  keep(d, "diamonds")
  d$expensive <- as.integer(d$price > 4000)
  d$price <- NULL
  keep(d, "diamonds_expensive")
  keep(na.omit(as.data.frame(ggplot2::txhousing))[, c("sales", "volume", "median", "listings", "inventory", "year")], "txhousing")
})
with_package("modeldata", function() {
  a <- data_of("ames", "modeldata")
  a$Sale_Price <- a$Sale_Price / 1000
  keep(a[, c("Sale_Price", "Lot_Area", "Gr_Liv_Area", "Year_Built", "Total_Bsmt_SF", "Garage_Cars", "Neighborhood",
             "Bldg_Type", "Longitude", "Latitude")], "ames")
})
with_package("kernlab", function() {
  s <- data_of("spam", "kernlab")
  s$y <- as.integer(s$type == "spam")
  s$type <- NULL
  keep(s, "spam")
})
with_package("mlbench", function() {
  p <- data_of("PimaIndiansDiabetes", "mlbench")
  p$y <- as.integer(p$diabetes == "pos")
  p$diabetes <- NULL
  keep(p, "pima")
  l <- data_of("LetterRecognition", "mlbench")
  l$y <- as.integer(l$lettr == "A")
  l$lettr <- NULL
  keep(l, "letter")
  keep(data_of("BostonHousing", "mlbench"), "boston")
})
with_package("AER", function()
  keep(data_of("NMES1988", "AER")[, c("visits", "hospital", "health", "chronic", "gender", "school", "insurance")], "nmes"))
