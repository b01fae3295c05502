/* Names and numbers as reports spell them: for people, and as JSON. */
#ifndef REPORT_FIELDS_H
#define REPORT_FIELDS_H

#include "base/json.h"
#include "report/text.h"

#endif
